/** Defines the command `worker`: runs rules in a consumer group of Kafka. */
import { AppError } from '#kernel'
import { type DefineCommand, gather, PLUGS } from './command.ts'
import type { WorkerFlags } from './run-worker.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description(
      'Runs the tasks of a share of all resources, as a member of a consumer group of Kafka. Start as many workers as you\n' +
        'like with the same brokers and prefix. Messages are read from <prefix>in, and alarms appear in <prefix>out.alarms.',
    )
    .requiredOption('--brokers <list>', 'addresses of brokers, host:port, separated by commas')
    .option('--prefix <text>', 'beginning of all topic names', 'rx.')
    .option(
      '--rules-from <place>',
      'folder of rules that this worker publishes, as `reflexarc rules pull` writes it; default: rules are in <prefix>rules',
    )
    .option('--name <text>', 'name of this worker, unique in the group; default: machine and process')
    .option('--port <number>', 'port for /health, /tasks, /explain and /metrics; 0: none', '8090')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--advertise <url>', 'address under which other workers reach this one; default: from --host and --port')
    .option('--slice <ms>', 'ms between two transactions, 10 to 100', '50')
    .option('--checkpoint-records <count>', 'records of a partition after which states are stored', '50000')
    .option('--checkpoint <ms>', 'ms after which states are stored', '30000')
    .option('--partitions <count>', 'partitions of topics that are created', '32')
    .option('--replicas <count>', 'copies of each partition of topics that are created; -1: as the brokers say', '-1')
    .option('--no-create-topics', 'fail if a topic is missing, instead of creating it')
    .option('--no-effects', 'leave outside calls, such as callURL, to other workers')
    .option('--tls', 'connect with TLS, and verify the brokers')
    .option('--tls-ca <file>', 'certificates of the authorities to trust, PEM')
    .option('--tls-cert <file>', 'certificate of this client, PEM')
    .option('--tls-key <file>', 'key of this client, PEM')
    .option('--tls-server-name <name>', 'name in the certificates of the brokers, if it differs from their address')
    .option('--sasl <mechanism>', 'log in: plain, scram-sha-256, scram-sha-512 or oauthbearer')
    .option('--sasl-user <name>', 'user; the password or token is in REFLEXARC_KAFKA_PASSWORD')
    .option(...PLUGS)
    .option('--allow-url <place>', 'private name, address or network that callURL may call (repeatable)', gather, [])
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc worker --brokers kafka-1:9092,kafka-2:9092 --rules-from ./rules --port 8090',
    )
    .action((flags: WorkerFlags) =>
      start(async (terminal) => {
        requirePackage()
        const { runWorkerCommand } = await import('./run-worker.ts')
        return runWorkerCommand(flags, process.env, terminal)
      }),
    )
}

function requirePackage(): void {
  try {
    import.meta.resolve('@platformatic/kafka')
  } catch (error) {
    throw new AppError('USAGE', 'workers need a package that is not installed; run: npm install @platformatic/kafka', {
      cause: error,
    })
  }
}
