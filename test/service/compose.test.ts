import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { MAX_CONNECTIONS } from '../../src/stores/clickhouse/client.ts';
import { loadConfig } from '../../src/core/config.ts';
import { settingsHelp } from '../../src/core/settings.ts';
import { ROLES } from '../../src/service.ts';

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string | number>;
  ports?: string[];
  volumes?: string[];
  secrets?: string[];
  healthcheck?: { test: string[] };
  deploy?: { resources: { limits: { memory: string } } };
  depends_on?: Record<string, { condition: string }>;
}

const root = new URL('../../', import.meta.url);
const text = (path: string) => readFileSync(new URL(path, root), 'utf8');
const source = text('docker-compose.yml');
const compose = parse(source, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, null>;
  secrets: Record<string, { environment: string }>;
};
const services = Object.entries(compose.services);
const { api = {}, ingest = {} } = compose.services;
const settings = new Set([...settingsHelp().matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name));
const example: Record<string, string> = Object.fromEntries(
  [...text('.env.example').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
);

/** The variables of the environment that a file of ClickHouse's settings reads. */
const readBy = (file: string): string[] =>
  [...text(`sql/server/${file}.yaml`).matchAll(/'@from_env': (\w+)/g)].map(([, name = '']) => name);

/** As compose fills variables in. */
const filled = (value: string | number | undefined, env: Record<string, string>): string =>
  String(value).replaceAll(/\$\{(\w+)(?::[-?]([^}]*))?\}/g, (_, name: string, or = '') => env[name] ?? String(or));

const environment = (service: Service, env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(service.environment ?? {}).map(([name, value]) => [name, filled(value, env)]));

/** What an operator would write instead of the placeholders. */
const own: Record<string, string> = {
  ...example,
  ...Object.fromEntries(
    Object.entries(example)
      .filter(([, value]) => value.includes('change-me'))
      .map(([name]) => [name, '0123456789abcdef0123456789abcdef0123456789']),
  ),
  CREDENTIALS_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
};

describe('the settings of api and ingest', () => {
  it('are settings the service knows, and start it in production', () => {
    for (const service of [api, ingest]) {
      for (const name of Object.keys(service.environment ?? {})) expect(settings, name).toContain(name);
      const config = loadConfig(environment(service, own));
      expect(config.production).toBe(true);
      expect(config.CLICKHOUSE_URL).toContain('@clickhouse:8123/forecastle');
    }
  });

  it('are refused with the placeholders of .env.example, each by its name', () => {
    const secrets = Object.entries(example).filter(([, value]) => value.includes('change-me'));
    expect(secrets.length).toBeGreaterThan(6);
    for (const [name, placeholder] of secrets) {
      const env = environment(api, { ...own, [name]: placeholder });
      expect(() => loadConfig(env), name).toThrow(/^(\w+): (must|Invalid)/);
      expect(() => loadConfig({ ...env, NODE_ENV: 'production' }), name).not.toThrow(placeholder);
    }
  });

  it('name the service the proxy before it, where there is one', () => {
    const config = loadConfig(
      environment(api, { ...own, PUBLIC_URL: 'https://api.example', TRUST_PROXY: '172.16.0.0/12' }),
    );
    expect(config).toMatchObject({ PUBLIC_URL: 'https://api.example', TRUST_PROXY: ['172.16.0.0/12'] });
    expect(loadConfig(environment(api, own))).toMatchObject({ PUBLIC_URL: undefined, TRUST_PROXY: [] });
  });

  it('are all that the service has, but for those of embedded stores and those that the containers settle', () => {
    const missing = [...settings].filter((name) => !(name in (api.environment ?? {})));
    const embedded = ['CLICKHOUSE_MEMORY_MB', 'CLICKHOUSE_PORT', 'DATA_DIR', 'SQL_HOST', 'SQL_PORT'];
    // The file would have to be mounted; KALSHI_PRIVATE_KEY holds the same.
    const settled = ['DEMO_API_KEY', 'HOST', 'KALSHI_PRIVATE_KEY_FILE', 'LOOPBACK_USER', 'METRICS', 'METRICS_PORT'];
    expect(missing.toSorted()).toEqual([...embedded, ...settled].toSorted());
  });

  it('hand on what .env says, the clients of the operator to api alone', () => {
    const env = { ...own, GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret', LIMITLESS_TOKEN_ID: 'token' };
    const config = loadConfig(environment(api, { ...env, TRADES_SECONDS: '30', LIMITLESS_API_URL: 'https://l.test' }));
    expect(config).toMatchObject({ GOOGLE_CLIENT_ID: 'id', LIMITLESS_TOKEN_ID: 'token', TRADES_SECONDS: 30 });
    expect(config.LIMITLESS_API_URL).toBe('https://l.test');
    const plain = loadConfig(environment(api, own));
    expect(plain).toMatchObject({ GOOGLE_CLIENT_ID: undefined, LIMITLESS_TOKEN_ID: undefined, TRADES_SECONDS: 15 });
    expect(loadConfig(environment(ingest, env))).toMatchObject({
      GOOGLE_CLIENT_ID: undefined,
      LIMITLESS_TOKEN_ID: undefined,
    });
  });

  it('hand the key of the operator at Kalshi to ingest too, whose socket needs it', () => {
    const key = { KALSHI_API_KEY_ID: 'key', KALSHI_PRIVATE_KEY: 'a PEM' };
    for (const service of [api, ingest])
      expect(loadConfig(environment(service, { ...own, ...key }))).toMatchObject(key);
  });

  it('have no secret with a default, and none missing but the clients’', () => {
    const optional = new Set(text('.env.example').split('can stay empty')[1]?.match(/^\w+/gm));
    for (const [, name = '', rest = ''] of source.matchAll(/\$\{(\w*(?:PASSWORD|SECRET|KEY|TOKEN)\w*)([^}]*)\}/g))
      expect(rest, name).toMatch(optional.has(name) ? /^:-$/ : /^:\?/);
  });
});

describe('every variable', () => {
  it('of the compose file stands in .env.example, and no other', () => {
    const used = new Set([...source.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    expect([...used].toSorted()).toEqual(Object.keys(example).toSorted());
  });

  it('that is a secret is refused as it stands in .env.example: by the service, or by compose as empty', () => {
    const required = [...source.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name);
    for (const name of required) expect(example[name], name).toMatch(/^$|change-me/);
    const handed = JSON.stringify([api.environment, ingest.environment]);
    for (const name of required.filter((one) => example[one] !== '')) expect(handed, name).toContain(`\${${name}:?`);
  });

  it('of Grafana’s sources is given to it', () => {
    const sources = text('dashboards/provisioning/datasources/forecastle.yml');
    const given = compose.services['grafana']?.environment ?? {};
    for (const [, name = ''] of sources.matchAll(/\$(\w+)/g)) expect(Object.keys(given), name).toContain(name);
  });
});

describe('the images', () => {
  it('are those of docs/security.md, which says how to renew them', () => {
    const page = text('docs/security.md');
    const images = services.flatMap(([, { image }]) => (image && !image.startsWith('forecastle') ? [image] : []));
    for (const image of [...images, /^FROM (\S+)/m.exec(text('Dockerfile'))?.[1] ?? 'none'])
      expect(page, image).toContain(`\`${image}\``);
    expect(page).toContain('docker compose pull');
  });
});

describe('every service', () => {
  it.each(services)('%s is pinned, limited, probed and restarted by what it needs', (_, service) => {
    expect(service.image).toMatch(/:v?\d+\.\d+/);
    expect(service.healthcheck?.test.length).toBeGreaterThan(1);
    expect(service.deploy?.resources.limits.memory).toBeDefined();
    for (const needed of Object.keys(service.depends_on ?? {})) expect(compose.services).toHaveProperty(needed);
    for (const secret of service.secrets ?? []) expect(compose.secrets).toHaveProperty(secret);
  });

  it('is called healthy only once it listens to the others: the images make their databases with a server of their own', () => {
    for (const name of ['clickhouse', 'postgres'])
      expect(compose.services[name]?.healthcheck?.test.join(' ')).toMatch(new RegExp(`(-h |//)${name}\\b`));
  });

  it('mounts what exists', () => {
    for (const [name, { volumes = [] }] of services)
      for (const volume of volumes) {
        const [from = ''] = filled(volume, own).split(':', 1);
        if (from.startsWith('.')) expect(existsSync(new URL(from, root)), `${name}: ${from}`).toBe(true);
        else expect(Object.keys(compose.volumes), name).toContain(from);
      }
    for (const other of ['large', 'cold']) expect(existsSync(new URL(`sql/server/${other}.yaml`, root))).toBe(true);
  });
});

describe('day files', () => {
  it('that ingest writes are those that every api serves: both have one volume, which the user of the image may write', () => {
    for (const { volumes } of [api, ingest]) expect(volumes).toContain('files:/data/files');
    expect(text('Dockerfile')).toMatch(
      / DATA_DIR=\/data .*\n(.*\n)*RUN mkdir -p \/data\/files && chown -R node:node \/data\n/,
    );
  });
});

/** The ports of several replicas, as .env.example has them. */
const [, firstPort = '', lastPort = ''] = /API_PORTS=127\.0\.0\.1:(\d+)-(\d+)/.exec(text('.env.example')) ?? [];

describe('ports', () => {
  it('of several replicas, of one and of Grafana differ', () => {
    const ports = [example['API_PORTS'], example['GRAFANA_PORT']].map((address = '') => Number(address.split(':')[1]));
    expect(new Set(ports).size).toBe(2);
    for (const port of ports) expect(port < Number(firstPort) || port > Number(lastPort)).toBe(true);
    for (const service of ['api', 'grafana'])
      expect(filled(compose.services[service]?.ports?.[0], {})).toBe(
        filled(compose.services[service]?.ports?.[0], example),
      );
  });
});

describe('the settings of ClickHouse', () => {
  it.each(['small', 'large'])(
    '%s take a query on every connection of all the processes that compose can start',
    (size) => {
      const [, workers = ''] = /--scale ingest=(\d+)/.exec(source) ?? [];
      const processes = Number(lastPort) - Number(firstPort) + 1 + Number(workers);
      const { max_concurrent_queries: most } = parse(text(`sql/server/${size}.yaml`)) as {
        max_concurrent_queries: number;
      };
      expect(most).toBeGreaterThanOrEqual(processes * MAX_CONNECTIONS);
    },
  );
});

describe('object storage', () => {
  it('needs no variable that the server is not given, and none of them where it is not chosen', () => {
    expect(readBy('cold').toSorted()).toEqual(['COLD_S3_ENDPOINT', 'COLD_S3_KEY_ID', 'COLD_S3_SECRET']);
    expect(Object.keys(compose.services['clickhouse']?.environment ?? {})).toEqual(
      expect.arrayContaining(readBy('cold')),
    );
    for (const file of ['common', 'small', 'large', example['CLICKHOUSE_STORAGE'] ?? ''])
      expect(readBy(file), file).toEqual([]);
  });
});

describe('a backup of ClickHouse', () => {
  it('as docs/backups.md has it goes to a disk that the server allows, on a volume of its own', () => {
    const common = parse(text('sql/server/common.yaml')) as {
      storage_configuration: { disks: Record<string, { type: string; path: string }> };
      backups: { allowed_disk: string; allowed_path: string };
    };
    const named = [...text('docs/backups.md').matchAll(/ Disk\('(\w+)', /g)].map(([, name = '']) => name);
    expect(new Set(named)).toEqual(new Set([common.backups.allowed_disk]));
    const disk = common.storage_configuration.disks[common.backups.allowed_disk];
    expect(disk).toEqual({ type: 'local', path: common.backups.allowed_path });
    const mounts = (compose.services['clickhouse']?.volumes ?? []).map((volume) => volume.split(':'));
    expect(mounts.find(([, path]) => `${path}/` === disk?.path)?.[0]).toBe('backups');
  });
});

describe('the image', () => {
  const dockerfile = text('Dockerfile');

  it('runs on the newest line of Node with long-term support, pinned to a patch release; the package allows from 20.20 what is tested', () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name);
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(/^node:24\.\d+\.\d+-bookworm-slim$/);
    const { engines } = JSON.parse(text('package.json')) as { engines: { node: string } };
    expect(engines.node).toBe('>=20.20');
  });

  it('runs as nobody in particular, and gets a role that exists', () => {
    expect(dockerfile).toMatch(/^USER node$/m);
    for (const { command = [] } of [api, ingest]) expect(ROLES).toContain(command[0]);
    expect(dockerfile).toMatch(/ENTRYPOINT \["node", .*"src\/main\.ts"\]/);
  });

  it('carries the service and the pages of the explorer ready made, without the libraries of the pages', () => {
    expect(dockerfile).toMatch(/^COPY src src\nCOPY ingest ingest\n#.*\nRUN npm run build && npm prune --omit=dev /m);
    const { dependencies } = JSON.parse(text('package.json')) as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies)).not.toContain('preact');
    expect(dockerfile).toMatch(/^COPY --from=modules \/app\/dist dist$/m);
  });

  it('is given every folder that it copies', () => {
    const kept = text('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    for (const [, names = ''] of dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm))
      for (const name of names.split(' ')) {
        expect(kept, name).toContain(name);
        expect(existsSync(new URL(name, root)), name).toBe(true);
      }
  });

  it('listens where the probes, the published ports and Prometheus look for it', () => {
    const prometheus = text('dashboards/prometheus.yml');
    const portOf = { api: api.environment?.['PORT'], ingest: ingest.environment?.['METRICS_PORT'] };
    for (const [name, port] of Object.entries(portOf)) {
      expect(compose.services[name]?.healthcheck?.test.join(' ')).toContain(`127.0.0.1:${port}/`);
      expect(prometheus.replaceAll(/\s+/g, ' ')).toContain(`names: [${name}] type: A port: ${port}`);
    }
    expect(api.ports?.every((published) => published.endsWith(`:${portOf.api}`))).toBe(true);
    expect(dockerfile).toContain(`EXPOSE ${portOf.api}`);
  });
});
