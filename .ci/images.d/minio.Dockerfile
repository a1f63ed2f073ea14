FROM scratch
COPY minio /minio
COPY tmp /tmp
ARG RECIPE
LABEL contextful.recipe=${RECIPE} contextful.content="MinIO built from its Go module, static"
EXPOSE 9000
ENTRYPOINT ["/minio"]
CMD ["server", "/data"]
