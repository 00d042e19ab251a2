const { createRequire } = require('node:module');
const { connect } = require('node:net');
const { getPriority, setPriority } = require('node:os');
const { dirname, join } = require('node:path');

/**
 * The process of the embedded engine: `node engine.cjs PORT DATABASE ARGUMENT…`, with arguments of clickhouse-local. The library has
 * ClickHouse's HTTP server in its command line program. It listens on PORT of the loopback until stdin ends, which also ends with the parent;
 * the parent gets the message `ready`. CommonJS: modules are read by threads, which would keep the nice value that they start with.
 */
const [port, database, ...args] = process.argv.slice(2);

/**
 * By how much the engine's nice value is above that of the service: where all want the processors, reads of the present in PostgreSQL come
 * before statements over history. Queries of analysts come last.
 */
const NICE = 5;
const LOWEST = 19;
const LISTENS_MS = 20;
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

function reportWhenListening() {
  const socket = connect(Number(port), '127.0.0.1');
  socket.once('connect', () => {
    socket.destroy();
    process.send?.('ready');
  });
  socket.once('error', () => setTimeout(reportWhenListening, LISTENS_MS));
}

// The parent decides when to stop, so that it can finish its work; a supervisor may signal both.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
// Not exit(): exit handlers of the engine could wait for its threads.
const end = () => process.kill(process.pid, 'SIGKILL');
process.once('disconnect', () => setTimeout(end, CLOSE_MS));
// Threads that are started later have the nice value of this one.
setPriority(Math.min(getPriority() + NICE, LOWEST));
const { DataType, load, open } = require('ffi-rs');
open({ library: 'chdb', path: library() });
// The engine's own default database refuses refreshable views.
const query = `CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic; SYSTEM START LISTEN HTTP; ${FOLLOWS_PARENT}`;
const argv = ['clickhouse', ...args, '--query', query];
void load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
  // On a thread of its own: koffi, for one, calls from a stack that the engine refuses.
  runInNewThread: true,
}).finally(end);
reportWhenListening();
