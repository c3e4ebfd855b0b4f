/** Reads the options of a host from flags, environment variables and defaults. */
import { join, resolve } from 'node:path'
import { AppError, problemsOfAllowed } from '#kernel'
import type { TimeBounds } from '#services/broker/contract'
import type { OidcClient } from './auth/oidc.ts'
import { rolesOf } from './auth/roles.ts'
import type { ForeignIssuer } from './auth/tokens.ts'
import { LOG_LEVELS, type LogLevel } from './log.ts'
import { memberUrlOf, problemsOfMember, problemsOfOne } from './cluster/member-options.ts'
import type { Limits } from './mount.ts'
import {
  hostUrlOf,
  isOn,
  jwksOf,
  keptOf,
  type KeptInputs,
  keyOf,
  lengthOf,
  mailServerOf,
  nonEmpty,
  type ObjectsChoice,
  objectsOf,
  originOf,
  proxiesOf,
  secretOf,
  servicesOf,
  spanOf,
  type StoreChoice,
  storeOf,
  wholeUpTo,
} from './option-values.ts'
import type { TlsFiles } from './certificates.ts'
import { isTenant } from './tenant.ts'

export interface Config {
  readonly port: number
  readonly host: string
  /** Certificate of HTTPS and MQTT over TLS; undefined: HTTP */
  readonly tls: TlsFiles | undefined
  /** MQTT port; 0: chosen by the system; undefined: no MQTT */
  readonly mqtt: number | undefined
  /** Port of MQTT over TLS; 0: chosen by the system; undefined: none */
  readonly mqtts: number | undefined
  readonly mqttHost: string
  /** How long entries of the audit are kept, in ms */
  readonly auditAge: number
  /** Port of metrics and probes without credentials; undefined: none */
  readonly metricsPort: number | undefined
  readonly data: string
  readonly store: StoreChoice
  /** Absolute path of the folder for object contents; undefined: inside the data folder */
  readonly blobs: string | undefined
  /** 32-byte keys, equal at all hosts of a cluster; absent: keys are in the data folder */
  readonly sharedKeys?: SharedKeys
  /** Membership in a cluster; undefined: a single host */
  readonly cluster: ClusterChoice | undefined
  /** Key pair of the first tenant, if the operator chose one */
  readonly pair: { readonly key: string; readonly secret: string } | undefined
  readonly tenant: string
  /** Names of the services to serve; undefined: all */
  readonly only: readonly string[] | undefined
  readonly demo: boolean
  readonly logLevel: LogLevel
  readonly trustProxy: string | undefined
  readonly allowUrl: readonly string[]
  /** Hosts that function packages may be downloaded from, in addition to those in the settings of npm and pip */
  readonly installFrom: readonly string[]
  readonly requirePinned: boolean
  readonly plugs: readonly string[]
  readonly limits: Limits
  readonly maxDescendants: number
  readonly identityIgnores: readonly string[]
  readonly duplicates: (typeof DUPLICATES)[number]
  /** Time in ms during which duplicates are detected */
  readonly dedupWindow: number
  readonly keepInputs: KeptInputs
  readonly times: TimeBounds
  readonly issuer: ForeignIssuer | undefined
  /** Client of the issuer by which browsers sign in */
  readonly oidc: OidcClient | undefined
  readonly objects: ObjectsChoice
  /** External address of this host, without a trailing slash; undefined: its own address */
  readonly url: string | undefined
  /** Separate origin for webscripts and public objects, without API routes; undefined: they share the API's origin */
  readonly webscriptUrl: string | undefined
  /** Mail server of notifications; undefined: none */
  readonly smtp: ReturnType<typeof mailServerOf>
  /** How functions run: `fenced` requires a sandbox, `trusted` runs them as the host's user, `off` rejects them */
  readonly functions: FunctionsMode
  /** Absolute path of a folder whose subfolders are Python virtual environments */
  readonly modelRuntimes: string
}

export type FunctionsMode = (typeof FUNCTIONS_MODES)[number]

const DUPLICATES = ['drop', 'take'] as const
const BAD_TIMES = ['receipt', 'refuse'] as const
const SPAN_FORM = 'write a duration such as 90s, 30m, 1h, 30d or PT30M, or off'

const FUNCTIONS_MODES = ['off', 'trusted', 'fenced'] as const

export interface ClusterChoice {
  /** Address at which other hosts reach this one; undefined: the address it listens on */
  readonly advertise: string | undefined
}

export interface SharedKeys {
  readonly seal: Uint8Array
  readonly objects: Uint8Array
}

/** Command-line option with its flag, environment variable and default. */
export interface Option {
  /** Flag name, as in `--log-level` */
  readonly flag: string
  readonly env: string
  readonly value?: string
  readonly default?: string
  readonly many?: true
  readonly help: string
}

export const OPTIONS = {
  port: { flag: 'port', env: 'PORT', value: 'number', default: '8080', help: 'port to listen on; 0: any free port' },
  host: { flag: 'host', env: 'REFLEXARC_HOST', value: 'address', default: '127.0.0.1', help: 'address to listen on' },
  mqtt: {
    flag: 'mqtt',
    env: 'REFLEXARC_MQTT',
    value: 'port',
    help: 'port for MQTT, such as 1883; default: MQTT is off',
  },
  mqtts: {
    flag: 'mqtts',
    env: 'REFLEXARC_MQTTS',
    value: 'port',
    help: 'port for MQTT over TLS, such as 8883; default: off',
  },
  mqttHost: {
    flag: 'mqtt-host',
    env: 'REFLEXARC_MQTT_HOST',
    value: 'address',
    help: 'address to listen on for MQTT; default: the address of --host',
  },
  tlsCert: {
    flag: 'tls-cert',
    env: 'REFLEXARC_TLS_CERT',
    value: 'file',
    help: 'certificate with its chain (PEM), to serve HTTPS; reloaded when the file changes',
  },
  tlsKey: { flag: 'tls-key', env: 'REFLEXARC_TLS_KEY', value: 'file', help: 'private key of --tls-cert (PEM)' },
  tlsClientCa: {
    flag: 'tls-client-ca',
    env: 'REFLEXARC_TLS_CLIENT_CA',
    value: 'file',
    help: 'CAs whose certificates identify devices (PEM): their name is that of a device key or its resource',
  },
  metricsPort: {
    flag: 'metrics-port',
    env: 'REFLEXARC_METRICS_PORT',
    value: 'port',
    help: 'port that serves /metrics, /live, /ready and /health over HTTP without credentials',
  },
  data: { flag: 'data', env: 'REFLEXARC_DATA', value: 'folder', default: './data', help: 'folder of the data' },
  store: {
    flag: 'store',
    env: 'REFLEXARC_STORE',
    value: 'medium',
    default: 'sqlite:',
    help: 'sqlite: in the data folder; memory: without persistence; or an address postgres://...',
  },
  blobs: {
    flag: 'blobs',
    env: 'REFLEXARC_BLOBS',
    value: 'folder',
    help: 'folder of objects, such as assets of functions; default: in the data folder; in a cluster: a folder that all hosts share',
  },
  cluster: {
    flag: 'cluster',
    env: 'REFLEXARC_CLUSTER',
    help: 'run as one of several hosts on the same PostgreSQL',
  },
  advertise: {
    flag: 'advertise',
    env: 'REFLEXARC_ADVERTISE',
    value: 'address',
    help: 'with --cluster: address at which other hosts reach this one, such as http://10.0.0.1:8080; default: the address it listens on',
  },
  key: { flag: 'key', env: 'REFLEXARC_API_KEY', value: 'key', help: 'API key of the first tenant, with its secret' },
  secret: {
    flag: 'secret',
    env: 'REFLEXARC_API_SECRET',
    value: 'secret',
    help: 'secret of the key; safer in the environment, which other users of the machine cannot see',
  },
  tenant: { flag: 'tenant', env: 'REFLEXARC_TENANT', value: 'name', default: 'default', help: 'the first tenant' },
  only: {
    flag: 'only',
    env: 'REFLEXARC_ONLY',
    value: 'services',
    help: 'services to start, such as rules,alarms; default: all',
  },
  plugs: {
    flag: 'plugs',
    env: 'REFLEXARC_PLUGS',
    value: 'path',
    many: true,
    help: 'ES module that exports plugs of definePlug, or a folder of such modules; reloaded on SIGHUP',
  },
  allowUrl: {
    flag: 'allow-url',
    env: 'REFLEXARC_ALLOW_URL',
    value: 'place',
    many: true,
    help: 'private name, address or network that callURL and remote models may call, such as intranet.local:8080 or 10.0.0.0/8',
  },
  installFrom: {
    flag: 'install-from',
    env: 'REFLEXARC_INSTALL_FROM',
    value: 'host',
    many: true,
    help: 'host from which packages of functions may be downloaded, in addition to the registries in .npmrc and pip.conf, such as files.intranet.local:8443',
  },
  requirePinned: {
    flag: 'require-pinned',
    env: 'REFLEXARC_REQUIRE_PINNED',
    help: 'reject functions whose requirements.txt does not pin all versions',
  },
  empty: { flag: 'empty', env: 'REFLEXARC_EMPTY', help: 'do not create the demo plant' },
  logLevel: {
    flag: 'log-level',
    env: 'REFLEXARC_LOG_LEVEL',
    value: 'level',
    default: 'info',
    help: `${LOG_LEVELS.join(', ')}; debug logs each request`,
  },
  rateLimit: {
    flag: 'rate-limit',
    env: 'REFLEXARC_RATE_LIMIT',
    value: 'number',
    default: '10000',
    help: 'requests per second of one key; 0: unlimited',
  },
  bodyLimit: {
    flag: 'body-limit',
    env: 'REFLEXARC_BODY_LIMIT',
    value: 'bytes',
    default: '1048576',
    help: 'maximum size of a request body',
  },
  timeLimit: {
    flag: 'time-limit',
    env: 'REFLEXARC_TIME_LIMIT',
    value: 'ms',
    default: '30000',
    help: 'time until the response to a request begins',
  },
  trustProxy: {
    flag: 'trust-proxy',
    env: 'REFLEXARC_TRUST_PROXY',
    value: 'addresses',
    help: 'trusted proxies, whose X-Forwarded-For is used, such as loopback or 10.0.0.0/8; default: none',
  },
  functions: {
    flag: 'functions',
    env: 'REFLEXARC_FUNCTIONS',
    value: 'mode',
    default: 'fenced',
    help: 'how uploaded functions run: fenced: in a sandbox; trusted: without one; off: not at all',
  },
  modelRuntimes: {
    flag: 'model-runtimes',
    env: 'REFLEXARC_MODEL_RUNTIMES',
    value: 'folder',
    help: 'folder of Python virtual environments for hosted models; default: model-runtimes in the data folder',
  },
  objects: {
    flag: 'objects',
    env: 'REFLEXARC_OBJECTS',
    value: 'store',
    default: 'files:',
    help: 'store of object contents: files: in the folder of objects, or s3://bucket/prefix?endpoint=...&region=...',
  },
  url: {
    flag: 'url',
    env: 'REFLEXARC_URL',
    value: 'address',
    help: 'external address of this host, such as https://iot.example.com; base of all links; default: the address of each request',
  },
  webscriptUrl: {
    flag: 'webscript-url',
    env: 'REFLEXARC_WEBSCRIPT_URL',
    value: 'address',
    help: 'separate origin of webscripts and public objects, such as https://scripts.example.com; browsers do not send credentials of the API to it',
  },
  smtp: {
    flag: 'smtp',
    env: 'REFLEXARC_SMTP',
    value: 'address',
    help: 'mail server of notifications, such as smtps://user@mail.example.com or smtp://127.0.0.1:25; default: no mails',
  },
  smtpPassword: {
    flag: 'smtp-password',
    env: 'REFLEXARC_SMTP_PASSWORD',
    value: 'secret',
    help: 'password of the user of --smtp; safer in the environment',
  },
  smtpFrom: {
    flag: 'smtp-from',
    env: 'REFLEXARC_SMTP_FROM',
    value: 'address',
    help: 'sender of these mails; default: the user of --smtp, if it is an address',
  },
  maxDescendants: {
    flag: 'max-descendants',
    env: 'REFLEXARC_MAX_DESCENDANTS',
    value: 'number',
    default: '1000',
    help: 'maximum number of messages, commands and alarms that rules may create from one root; more are rejected as a loop',
  },
  maxAhead: {
    flag: 'max-ahead',
    env: 'REFLEXARC_MAX_AHEAD',
    value: 'duration',
    default: '1h',
    help: 'how far the timestamp of a live message may be ahead of the clock, such as 30m or PT30M; off: any',
  },
  maxBehind: {
    flag: 'max-behind',
    env: 'REFLEXARC_MAX_BEHIND',
    value: 'duration',
    default: '30d',
    help: 'how far the timestamp of a live message may be behind the clock; off: any',
  },
  badTime: {
    flag: 'bad-time',
    env: 'REFLEXARC_BAD_TIME',
    value: 'what',
    default: 'receipt',
    help: 'handling of a message whose timestamp is out of these bounds: receipt replaces it by the time of receipt; refuse rejects the message over HTTP and WebSocket',
  },
  identityIgnores: {
    flag: 'identity-ignores',
    env: 'REFLEXARC_IDENTITY_IGNORES',
    value: 'keys',
    help: 'keys of messages that duplicate detection ignores, such as receivedAt,seq; the same on all hosts of a cluster',
  },
  duplicates: {
    flag: 'duplicates',
    env: 'REFLEXARC_DUPLICATES',
    value: 'what',
    default: 'drop',
    help: 'default of tasks for duplicate messages: drop or take; the same on all hosts of a cluster',
  },
  dedupWindow: {
    flag: 'dedup-window',
    env: 'REFLEXARC_DEDUP_WINDOW',
    value: 'duration',
    default: '10m',
    help: 'how long tasks that accept late messages remember the last 1,000 messages of a resource to recognize duplicates, such as 30m; the same on all hosts of a cluster',
  },
  keepInputs: {
    flag: 'keep-inputs',
    env: 'REFLEXARC_KEEP_INPUTS',
    value: 'limits',
    default: '7d,4GB',
    help: 'age and size per tenant up to which inputs of tasks are kept, to look at the past and to rehearse rules; 0: none',
  },
  auditAge: {
    flag: 'audit-age',
    env: 'REFLEXARC_AUDIT_AGE',
    value: 'duration',
    default: '365d',
    help: 'time for which audit entries are kept',
  },
  jwks: {
    flag: 'jwks',
    env: 'REFLEXARC_JWKS',
    value: 'address',
    help: 'public keys of an issuer whose bearer tokens are accepted',
  },
  issuer: { flag: 'issuer', env: 'REFLEXARC_ISSUER', value: 'name', help: 'required `iss` of these tokens' },
  audience: { flag: 'audience', env: 'REFLEXARC_AUDIENCE', value: 'name', help: 'required `aud` of these tokens' },
  tenantClaim: {
    flag: 'tenant-claim',
    env: 'REFLEXARC_TENANT_CLAIM',
    value: 'name',
    default: 'tenant',
    help: 'claim of these tokens that contains the tenant',
  },
  roleClaim: {
    flag: 'role-claim',
    env: 'REFLEXARC_ROLE_CLAIM',
    value: 'name',
    help: 'claim of these tokens that contains groups of the user; if it is not set, tokens have all rights',
  },
  oidcClient: {
    flag: 'oidc-client',
    env: 'REFLEXARC_OIDC_CLIENT',
    value: 'id',
    help: 'client id of this host at the issuer, so that browsers can log in there; the redirect URI is /auth/v1/oidc/callback',
  },
  oidcSecret: {
    flag: 'oidc-secret',
    env: 'REFLEXARC_OIDC_SECRET',
    value: 'secret',
    help: 'secret of this client, if it has one; safer in the environment',
  },
  roles: {
    flag: 'role',
    env: 'REFLEXARC_ROLES',
    value: 'group=scopes',
    many: true,
    help: 'scopes of a group, such as shift=operate or plant=author+operate; a group with the name of a scope has that scope',
  },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof OPTIONS
export type Given = Readonly<Partial<Record<OptionName, string | number | boolean | readonly string[] | undefined>>>
export type Environment = Readonly<Record<string, string | undefined>>

/** Throws one `USAGE` that lists all problems. `services`: the names that `--only` accepts. */
export function readConfig(given: Given, env: Environment, services: readonly string[]): Config {
  const problems: string[] = []
  const look = (name: OptionName): { text: string | undefined; named: string } => {
    const option: Option = OPTIONS[name]
    const flag = given[name]
    if (flag !== undefined) return { text: String(flag), named: `--${option.flag}` }
    return { text: env[option.env] || option.default, named: env[option.env] ? option.env : `--${option.flag}` }
  }
  const read = <T>(name: OptionName, parse: (text: string) => T | undefined, right: string): T | undefined => {
    const { text, named } = look(name)
    if (text === undefined) return undefined
    const value = parse(text)
    // never show a value that may be secret
    const shown = name === 'secret' || name === 'store' || name === 'oidcSecret' ? 'this value' : `"${text}"`
    if (value === undefined) problems.push(`${named}: ${shown} cannot be used; ${right}`)
    return value
  }
  const text = (name: OptionName) => look(name).text
  const list = (name: OptionName): readonly string[] => {
    const flag = given[name]
    const items = Array.isArray(flag) ? flag.map(String) : (text(name) ?? '').split(',')
    return items.map((item) => item.trim()).filter((item) => item !== '')
  }

  const port = read('port', wholeUpTo(65_535), 'write a number from 0 to 65535')
  const mqtt = read('mqtt', wholeUpTo(65_535), 'write a number from 0 to 65535; MQTT usually uses 1883')
  const mqtts = read('mqtts', wholeUpTo(65_535), 'write a number from 0 to 65535; MQTT over TLS usually uses 8883')
  const metricsPort = read('metricsPort', wholeUpTo(65_535), 'write a number from 0 to 65535')
  const host = read('host', nonEmpty, 'write an address such as 127.0.0.1 or 0.0.0.0')
  const mqttHost = read('mqttHost', nonEmpty, 'write an address such as 127.0.0.1 or 0.0.0.0')
  const [cert, tlsKey] = [text('tlsCert'), text('tlsKey')]
  const clientCa = text('tlsClientCa')
  const ca = clientCa !== undefined && { clientCa: resolve(clientCa) }
  const tls =
    cert !== undefined && tlsKey !== undefined ? { cert: resolve(cert), key: resolve(tlsKey), ...ca } : undefined
  if (tls === undefined && (cert ?? tlsKey) !== undefined) {
    problems.push('--tls-cert and --tls-key: one is missing; write both, or neither for HTTP')
  }
  if (tls === undefined && clientCa !== undefined) {
    problems.push(
      '--tls-client-ca: --tls-cert and --tls-key are missing; name the files of the certificate and its key',
    )
  }
  if (tls === undefined && mqtts !== undefined) {
    problems.push('--mqtts: --tls-cert and --tls-key are missing; name the files of the certificate and its key')
  }
  const store = read('store', storeOf, 'write sqlite:, memory: or postgres://user@host/database')
  const tenant = read(
    'tenant',
    (name) => (isTenant(name) ? name : undefined),
    'write 1 to 64 letters, digits, dots, - or _, no _ at the start, and none of ".", ".." and "webscripts"',
  )
  const only = read('only', (list) => servicesOf(list, services), `the services are ${services.join(', ') || 'none'}`)
  const functions = read(
    'functions',
    (mode) => FUNCTIONS_MODES.find((one) => one === mode),
    `write one of ${FUNCTIONS_MODES.join(', ')}`,
  )
  const logLevel = read(
    'logLevel',
    (level) => LOG_LEVELS.find((one) => one === level),
    `write one of ${LOG_LEVELS.join(', ')}`,
  )
  const rate = read('rateLimit', wholeUpTo(1e9), 'write a whole number, 0 for no limit')
  const bytes = read('bodyLimit', wholeUpTo(1e9), 'write a number of bytes, at most 1000000000')
  const ms = read('timeLimit', wholeUpTo(3_600_000), 'write ms, 1 to 3600000')
  const objects = read('objects', objectsOf, 'write files: or s3://bucket/prefix?endpoint=https://...&region=...')
  const url = read('url', hostUrlOf, 'write http:// or https://, a name, and a path if there is one')
  const webscriptUrl = read('webscriptUrl', originOf, 'write http:// or https:// and a name, without a path')
  if (webscriptUrl !== undefined && url !== undefined && new URL(url).host === new URL(webscriptUrl).host) {
    problems.push('--webscript-url: same origin as --url; use another name or port')
  }
  const descendants = read('maxDescendants', wholeUpTo(1e9), 'write a whole number from 1 to 1000000000')
  const ahead = read('maxAhead', spanOf, SPAN_FORM)
  const behind = read('maxBehind', spanOf, SPAN_FORM)
  const badTime = read('badTime', (what) => BAD_TIMES.find((one) => one === what), `write ${BAD_TIMES.join(' or ')}`)
  const duplicates = read('duplicates', (what) => DUPLICATES.find((one) => one === what), 'write drop or take')
  const dedupWindow = read('dedupWindow', lengthOf, 'write a duration such as 90s, 10m or PT10M')
  const auditAge = read('auditAge', lengthOf, 'write a duration such as 365d')
  const keepInputs = read('keepInputs', keptOf, 'write an age, a size or both, such as 7d,4GB, or 0')
  if (descendants === 0) problems.push('--max-descendants: 0 would stop all rules; write a number from 1')
  if (bytes === 0) problems.push('--body-limit: 0 would reject all bodies; write a number of bytes from 1')
  if (ms === 0) problems.push('--time-limit: 0 would reject all requests; write ms from 1')

  const trustProxy = read(
    'trustProxy',
    proxiesOf,
    'write addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, with commas between them',
  )
  const key = read('key', keyOf, 'write visible characters without a colon, at most 128')
  const secret = read('secret', secretOf, 'write visible characters, at most 256')
  if ((text('key') === undefined) !== (text('secret') === undefined)) {
    problems.push('--key and --secret: one is missing; write both, or neither to create a pair')
  }
  const jwks = read('jwks', jwksOf, 'write an https address, or http on this machine')
  if (jwks === undefined && (given.issuer ?? given.audience) !== undefined) {
    problems.push('--issuer and --audience: --jwks is missing; set the address of the keys of the issuer, or omit both')
  }
  const smtp = mailServerOf({ url: text('smtp'), password: text('smtpPassword'), from: text('smtpFrom') }, problems)
  const roleClaim = text('roleClaim')
  const roles = rolesOf(list('roles'), problems)
  if (jwks === undefined && roleClaim !== undefined) {
    problems.push('--role-claim: --jwks is missing; set the address of the keys of the issuer, or omit it')
  }
  const [oidcClient, oidcSecret] = [text('oidcClient'), text('oidcSecret')]
  if (oidcClient !== undefined && (jwks === undefined || text('issuer') === undefined)) {
    problems.push('--oidc-client: name the issuer with --jwks and --issuer, whose address describes its endpoints')
  }
  const advertise = read('advertise', memberUrlOf, 'write an address such as http://10.0.0.1:8080, without a path')
  const cluster = isOn(text('cluster')) ? { advertise } : undefined
  const shared = { store, host, blobs: text('blobs'), advertise: text('advertise') }
  problems.push(...(cluster === undefined ? problemsOfOne(shared) : problemsOfMember(shared)))
  const allowUrl = list('allowUrl')
  problems.push(...problemsOfAllowed(allowUrl).map((problem) => `--allow-url: ${problem}`))
  const installFrom = list('installFrom')
  const noHost = installFrom.find((one) => !/^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$/.test(one))
  if (noHost !== undefined)
    problems.push(
      `--install-from: "${noHost.slice(0, 100)}" is not a host; write registry.intranet.local or registry.intranet.local:8443`,
    )
  if (cluster !== undefined && clientCa !== undefined) {
    problems.push('--tls-client-ca: hosts of a cluster cannot forward certificates to each other; omit it')
  }
  if (cluster !== undefined && mqtts !== undefined && mqtt === undefined) {
    problems.push('--mqtts: hosts of a cluster forward connections to the --mqtt port of each other; write it too')
  }
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  const [issuer, audience] = [text('issuer'), text('audience')]
  const data = resolve(text('data') ?? '')
  return {
    port: port ?? 0,
    host: host ?? '',
    tls,
    mqtt,
    mqtts,
    mqttHost: mqttHost ?? host ?? '',
    metricsPort,
    auditAge: auditAge ?? 0,
    data,
    store: store ?? { medium: 'memory' },
    blobs: shared.blobs === undefined ? undefined : resolve(shared.blobs),
    cluster,
    pair: key !== undefined && secret !== undefined ? { key, secret } : undefined,
    tenant: tenant ?? '',
    only,
    demo: !isOn(text('empty')),
    logLevel: logLevel ?? 'info',
    trustProxy,
    allowUrl,
    installFrom,
    requirePinned: isOn(text('requirePinned')),
    plugs: list('plugs'),
    smtp,
    functions: functions ?? 'fenced',
    modelRuntimes: resolve(text('modelRuntimes') ?? join(data, 'model-runtimes')),
    maxDescendants: descendants ?? 1,
    identityIgnores: list('identityIgnores'),
    duplicates: duplicates ?? 'drop',
    dedupWindow: dedupWindow ?? 0,
    keepInputs: keepInputs === 'nothing' ? undefined : keepInputs,
    times: { ahead: ahead ?? Infinity, behind: behind ?? Infinity, refuses: badTime === 'refuse' },
    objects: objects ?? { kind: 'files' },
    url,
    webscriptUrl,
    limits: { ratePerKey: rate ?? 0, bodyBytes: bytes ?? 0, requestMs: ms ?? 0 },
    oidc:
      oidcClient === undefined
        ? undefined
        : { issuer: issuer ?? '', clientId: oidcClient, ...(oidcSecret !== undefined && { clientSecret: oidcSecret }) },
    issuer: jwks && {
      jwks,
      tenantClaim: text('tenantClaim') ?? '',
      roles,
      ...(roleClaim !== undefined && { roleClaim }),
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
    },
  }
}
