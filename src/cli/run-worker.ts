/** Runs a worker from the command line until a signal. */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createRegistry, type PlugServices } from '#core'
import { RunningWorker, type RunWorkerOptions, workerPages } from '#kafka'
import { AppError } from '#kernel'
import { generatorHere } from '#platform/generate'
import { createBuiltins } from '#plugins'
import { nodeTransport, ownVersion } from '#host/spi'
import { readPlugs } from '#host/load-plugs'
import { untilSignal } from './command.ts'
import type { Terminal } from './terminal.ts'
import { tasksInFolder } from './worker-rules.ts'

export interface WorkerFlags {
  readonly brokers?: string
  readonly prefix: string
  readonly rulesFrom?: string
  readonly name?: string
  readonly port: string
  readonly host: string
  readonly advertise?: string
  readonly slice: string
  readonly checkpointRecords: string
  readonly checkpoint: string
  readonly partitions: string
  readonly replicas: string
  readonly createTopics: boolean
  readonly effects: boolean
  readonly tls?: boolean
  readonly tlsCa?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly tlsServerName?: string
  readonly sasl?: string
  readonly saslUser?: string
  readonly plugs: readonly string[]
  readonly allowUrl: readonly string[]
}

const CLOSING_MS = 20
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const

export async function runWorkerCommand(
  flags: WorkerFlags,
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<0 | 1> {
  const options = readFlags(flags, env)
  const { plugs: own } = await readPlugs(flags.plugs)
  const outbound = { transport: nodeTransport({ allow: flags.allowUrl }) }
  const plugs = (services: PlugServices) => [
    ...createBuiltins({ clock: () => performance.now(), services, outbound }),
    ...own,
  ]
  const folder = flags.rulesFrom === undefined ? undefined : resolve(flags.rulesFrom)
  const tasks = folder === undefined ? undefined : await tasksInFolder(folder, createRegistry(plugs({})))
  const signal = untilSignal()
  const say = (message: string): void => terminal.err(`${new Date().toISOString()} ${message}\n`)
  const running = new RunningWorker({
    ...options,
    plugs,
    generate: generatorHere(),
    version: ownVersion(),
    ...(tasks !== undefined && { publish: async () => ({ from: `folder:${flags.rulesFrom}`, tasks }) }),
    effects: flags.effects,
    now: Date.now,
    // ends early at the signal, and is short afterwards, while the worker closes
    pause: (ms) =>
      signal.aborted ? pause(Math.min(ms, CLOSING_MS)) : pause(ms, undefined, { signal }).catch(() => undefined),
    logger: { warn: (message) => say(`WARN ${message}`), error: (message) => say(`ERROR ${message}`) },
  })
  const server = workerPages({ worker: () => running.worker, trouble: () => running.trouble, fetch })
  if (flags.port !== '0') await listening(server, flags)
  say(
    `worker ${options.worker.name} of ${flags.prefix}${options.worker.url === undefined ? '' : ` at ${options.worker.url}`}`,
  )
  try {
    await running.run(signal)
  } finally {
    server.close()
  }
  return 0
}

async function listening(server: ReturnType<typeof workerPages>, { port, host }: WorkerFlags): Promise<void> {
  await new Promise<void>((listens, fails) => {
    server.once('error', (error) =>
      fails(new AppError('USAGE', `--port ${port}: ${error.message}; use another port, or 0`)),
    )
    server.listen(Number(port), host, listens)
  })
}

type Read = Pick<RunWorkerOptions, 'connection' | 'prefix' | 'worker' | 'create'>

function readFlags(flags: WorkerFlags, env: Readonly<Record<string, string | undefined>>): Read {
  const problems: string[] = []
  const whole = (flag: string, text: string, least: number, most: number): number => {
    const value = Number(text)
    if (Number.isInteger(value) && value >= least && value <= most) return value
    problems.push(`--${flag}: "${text}" is not valid; use a whole number from ${least} to ${most}`)
    return least
  }
  const brokers = (flags.brokers ?? '').split(',').map((one) => one.trim())
  for (const broker of brokers)
    if (!/^[^\s:]+:\d{1,5}$|^\[[\da-f:]+\]:\d{1,5}$/i.test(broker))
      problems.push(`--brokers: "${broker}" is not a valid address; use a form such as kafka-1:9092`)
  if (!/^[\w.-]{0,100}$/.test(flags.prefix))
    problems.push(`--prefix: "${flags.prefix}" is not valid; use letters, digits, dots, - or _`)
  const name = flags.name ?? `${hostname()}-${process.pid}`
  if (!/^[\w.-]{1,100}$/.test(name)) problems.push(`--name: "${name}" is not valid; use letters, digits, dots, - or _`)
  const port = whole('port', flags.port, 0, 65_535)
  const worker = {
    name,
    ...(port > 0 && { url: flags.advertise ?? `http://${flags.host}:${port}` }),
    sliceMs: whole('slice', flags.slice, 10, 100),
    checkpointRecords: whole('checkpoint-records', flags.checkpointRecords, 1, 10_000_000),
    checkpointMs: whole('checkpoint', flags.checkpoint, 100, 3_600_000),
  }
  const create = {
    partitions: whole('partitions', flags.partitions, 1, 256),
    replicas: whole('replicas', flags.replicas, -1, 10),
  }
  const file = (flag: string, path: string | undefined): string | undefined => {
    try {
      return path === undefined ? undefined : readFileSync(path, 'utf8')
    } catch {
      problems.push(`--${flag}: the file ${path} cannot be read`)
      return undefined
    }
  }
  const ca = file('tls-ca', flags.tlsCa)
  const cert = file('tls-cert', flags.tlsCert)
  const key = file('tls-key', flags.tlsKey)
  const serverName = flags.tlsServerName
  const details = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), ...(serverName && { serverName }) }
  const tls = Object.keys(details).length > 0 ? details : flags.tls
  const mechanism = MECHANISMS.find((one) => one === flags.sasl)
  if (flags.sasl !== undefined && mechanism === undefined)
    problems.push(`--sasl: "${flags.sasl}" is not a valid mechanism; use ${MECHANISMS.join(', ')}`)
  const secret = env['REFLEXARC_KAFKA_PASSWORD']
  if (mechanism !== undefined && secret === undefined)
    problems.push('--sasl: the password is missing; set REFLEXARC_KAFKA_PASSWORD')
  const login = mechanism && {
    mechanism,
    ...(flags.saslUser !== undefined && { user: flags.saslUser }),
    ...(mechanism === 'oauthbearer' ? { token: secret ?? '' } : { password: secret ?? '' }),
  }
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  const connection = { brokers, ...(tls !== undefined && { tls }), ...(login && { login }) }
  return { connection, prefix: flags.prefix, worker, ...(flags.createTopics && { create }) }
}
