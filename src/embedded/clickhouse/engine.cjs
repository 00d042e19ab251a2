const { createRequire } = require('node:module');
const { rmSync } = require('node:fs');
const { connect, createServer } = require('node:net');
const { getPriority, setPriority } = require('node:os');
const { dirname, join } = require('node:path');

/**
 * The process of the embedded engine: `node engine.cjs PORT INNER DATABASE CONFIG ARGUMENT…`, with arguments of clickhouse-local. The library has
 * ClickHouse's HTTP server in its command line program, which ends with stdin, and so with the parent. It listens on INNER of the loopback,
 * and this process on PORT. The parent gets the message `ready`. CommonJS: modules are read by threads, which would keep their nice value.
 */
const [port, inner, database, config, ...args] = process.argv.slice(2);

/**
 * By how much the engine's nice value is above that of the service: where all want the processors, reads of the present in PostgreSQL come
 * before statements over history. Queries of analysts come last.
 */
const NICE = 5;
const LOWEST = 19;
const LISTENS_MS = 20;
const MAX_CONNECTIONS = 512;
/** A statement that still runs this long after the parent has ended is given up. */
const CLOSE_MS = 3000;

const FOLLOWS_PARENT = "SELECT count() FROM file('stdin', 'LineAsString', 'line String') FORMAT Null";

/** The file of the library, in the package that chdb has for this platform. */
function library() {
  const { platform, arch } = process;
  const name = `@chdb/lib-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}`;
  const ofChdb = createRequire(require.resolve('chdb'));
  return join(dirname(ofChdb.resolve(name)), 'libchdb.so');
}

/**
 * Passes the bytes of connections on. The engine ends when a connection is reset (ClickHouse issue 115666), and a client that leaves in the
 * middle of an answer resets its own: the engine's is ended in order, and read to its end.
 */
const open = new Set();
const relay = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const engine = connect({ port: Number(inner), host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const leave = () => {
    engine.unpipe(client);
    engine.resume();
    engine.end();
  };
  client.on('error', leave).on('close', leave);
  engine.on('error', () => client.destroy()).on('close', () => client.end());
  client.pipe(engine).pipe(client);
  open.add(engine);
  engine.once('close', () => open.delete(engine));
});

relay.maxConnections = MAX_CONNECTIONS;

function listenOnceEngineDoes() {
  const socket = connect(Number(inner), '127.0.0.1');
  socket.once('connect', () => {
    socket.end();
    forget();
    relay.listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
  });
  socket.once('error', () => setTimeout(listenOnceEngineDoes, LISTENS_MS));
}

// The parent decides when to stop, so that it can finish its work; a supervisor may signal both.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
// It has passwords, and was read.
const forget = () => rmSync(config, { force: true });
const end = () => {
  forget();
  // Not exit(): exit handlers of the engine could wait for its threads.
  process.kill(process.pid, 'SIGKILL');
};
relay.on('error', ({ message }) => {
  process.stderr.write(`Error: ${message}\n`);
  end();
});
// The engine waits for the connections of other processes, and the next engine for the port.
const disconnectAll = () => {
  relay.close();
  for (const socket of open) socket.end();
};
// The parent is about to end stdin, or has ended.
process.once('message', disconnectAll);
process.once('disconnect', () => {
  // Before it listens, nothing was asked, and the next engine wants the port.
  if (!relay.listening) end();
  disconnectAll();
  setTimeout(end, CLOSE_MS);
});
// Threads that are started later have the nice value of this one.
setPriority(Math.min(getPriority() + NICE, LOWEST));
const ffi = require('ffi-rs');
ffi.open({ library: 'chdb', path: library() });
// The engine's own default database refuses refreshable views.
const query = `CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic; SYSTEM START LISTEN HTTP; ${FOLLOWS_PARENT}`;
const argv = ['clickhouse', `--config-file=${config}`, ...args, '--query', query];
void ffi
  .load({
    library: 'chdb',
    funcName: 'chdb_query_cmdline',
    retType: ffi.DataType.External,
    paramsType: [ffi.DataType.I32, ffi.DataType.StringArray],
    paramsValue: [argv.length, argv],
    // On a thread of its own: koffi, for one, calls from a stack that the engine refuses.
    runInNewThread: true,
  })
  .finally(end);
listenOnceEngineDoes();
