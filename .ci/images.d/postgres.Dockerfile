ARG BASE
FROM ${BASE}
COPY postgres-entrypoint /usr/local/bin/postgres-entrypoint
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 PGDATA=/var/lib/postgresql/data
ARG RECIPE
LABEL contextful.recipe=${RECIPE} contextful.content="Debian bookworm postgresql-15"
EXPOSE 5432
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/local/bin/postgres-entrypoint"]
CMD ["postgres"]
