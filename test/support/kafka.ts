/**
 * Starts a Kafka broker of its own with new data in a temporary folder: a plain listener, one with SASL, and one with
 * TLS. Its jars come from Maven Central once, into a folder of the user.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './free-port.ts'

const VERSION = '4.1.0'
const ARTIFACTS = [
  ['org.apache.kafka', 'kafka_2.13', VERSION],
  ['org.apache.kafka', 'kafka-server', VERSION],
  ['org.slf4j', 'slf4j-nop', '1.7.36'],
] as const
const JARS = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'reflexarc', `kafka-${VERSION}`)

export interface KafkaServer {
  readonly plain: string
  /** accepts the users of `KAFKA_USERS` with PLAIN and SCRAM-SHA-256, and the subjects of unsigned tokens */
  readonly sasl: string
  readonly tls: string
  /** certificate of the authority that signed that of the listener, as PEM */
  readonly ca: string
  /** Kills the broker; its data stays. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Ends the broker and removes its data. */
  close(): Promise<void>
}

/** `reader` has no rights on topics. */
export const KAFKA_USERS = { admin: 'admin-secret', reader: 'reader-secret' } as const

/** Returns a token without a signature, which only brokers of tests accept. `from`: seconds from now */
export function unsignedToken(subject: string, from: number, until: number): string {
  const now = Math.floor(Date.now() / 1_000)
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ sub: subject, iat: now + from, exp: now + until })}.`
}

/** Returns why no Kafka can be started; undefined when its jars are there. */
export function kafkaProblem(): string | undefined {
  if (spawnSync('java', ['-version'], { stdio: 'ignore' }).status !== 0) {
    return 'java is not installed; on Debian: apt-get install openjdk-17-jre-headless'
  }
  if (existsSync(join(JARS, 'libs'))) return undefined
  if (spawnSync('mvn', ['-version'], { stdio: 'ignore' }).status !== 0) {
    return 'mvn is not installed; on Debian: apt-get install maven'
  }
  mkdirSync(join(JARS, '..'), { recursive: true })
  const folder = mkdtempSync(`${JARS}-`)
  const dependencies = ARTIFACTS.map(
    ([group, artifact, version]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`,
  )
  writeFileSync(
    join(folder, 'pom.xml'),
    `<project><modelVersion>4.0.0</modelVersion><groupId>tests</groupId><artifactId>kafka</artifactId><version>1</version>
<dependencies>${dependencies.join('')}</dependencies></project>`,
  )
  const copied = spawnSync('mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=libs'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (copied.status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    return `the jars of Kafka could not be downloaded: ${copied.stdout.slice(0, 300)}`
  }
  renameSync(folder, JARS)
  return undefined
}

export async function startKafka(): Promise<KafkaServer> {
  const folder = mkdtempSync(join(tmpdir(), 'kafka-'))
  const [plain, sasl, tls, controller] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const { ca, key, chain } = certificate(folder)
  const oneLine = (pem: string): string => pem.trim().replaceAll('\n', String.raw`\n`)
  const users = Object.entries(KAFKA_USERS).map(([user, password]) => `user_${user}="${password}"`)
  const jaas = `org.apache.kafka.common.security.plain.PlainLoginModule required ${users.join(' ')};`
  const properties = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    listeners: `PLAINTEXT://127.0.0.1:${plain},SASL_PLAINTEXT://127.0.0.1:${sasl},SSL://127.0.0.1:${tls},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${plain},SASL_PLAINTEXT://127.0.0.1:${sasl},SSL://127.0.0.1:${tls}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,OAUTHBEARER',
    'listener.name.sasl_plaintext.plain.sasl.jaas.config': jaas,
    'listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config':
      'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="tests";',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.certificate.chain': oneLine(chain),
    'ssl.keystore.key': oneLine(key),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS;User:admin',
    'log.dirs': 'data',
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'auto.create.topics.enable': false,
    'log.flush.interval.messages': 1,
  }
  const file = join(folder, 'server.properties')
  writeFileSync(
    file,
    Object.entries(properties)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const java = (...args: readonly string[]): string[] => ['-cp', join(JARS, 'libs', '*'), ...args]
  const bytes = randomBytes(16)
  // an id that begins with a dash would be read as an option
  bytes[0] = (bytes[0] ?? 0) & 0x7f
  const id = bytes.toString('base64url')
  const scram = Object.entries(KAFKA_USERS).flatMap(([user, password]) => {
    return ['--add-scram', `SCRAM-SHA-256=[name=${user},password=${password}]`]
  })
  execFileSync('java', java('kafka.tools.StorageTool', 'format', '-t', id, '-c', file, ...scram), {
    cwd: folder,
    stdio: 'ignore',
  })

  let server: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    const child = server
    server = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  const start = async (): Promise<void> => {
    const child = spawn('java', java('-Xmx400m', 'kafka.Kafka', file).toSpliced(0, 0, '-XX:+UseSerialGC'), {
      cwd: folder,
      stdio: 'ignore',
    })
    server = child
    while (!(await accepts(plain))) {
      if (child.exitCode !== null) throw new Error(`Kafka ended with ${child.exitCode}`)
      await pause(100)
    }
  }
  process.once('exit', () => server?.kill('SIGKILL'))
  await start()
  return {
    plain: `127.0.0.1:${plain}`,
    sasl: `127.0.0.1:${sasl}`,
    tls: `127.0.0.1:${tls}`,
    ca,
    kill,
    start,
    close: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (isOpen: boolean): void => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

function certificate(folder: string): { readonly ca: string; readonly key: string; readonly chain: string } {
  const openssl = (...args: readonly string[]): string =>
    execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const key = openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256')
  writeFileSync(join(folder, 'key.pem'), key)
  const subject = ['-subj', '/CN=kafka', '-addext', 'subjectAltName=IP:127.0.0.1']
  const chain = openssl('req', '-x509', '-key', 'key.pem', '-days', '2', ...subject)
  return { ca: chain, key, chain }
}
