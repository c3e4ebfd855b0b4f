/** The options of a host: by flag, by environment, by default. */
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { AppError, durationMs, problemsOfAllowed } from '#kernel'
import type { TimeBounds } from '#services/broker/contract'
import type { ForeignIssuer } from './auth/tokens.ts'
import { LOG_LEVELS, type LogLevel } from './log.ts'
import { memberUrlOf, problemsOfMember, problemsOfOne } from './cluster/member-options.ts'
import type { Limits } from './mount.ts'
import { isTenant } from './tenant.ts'

/** What a host is started with. */
export interface Config {
  /** 0: the system picks one */
  readonly port: number
  readonly host: string
  /** of MQTT, on the same address; 0: the system picks one; undefined: none */
  readonly mqtt: number | undefined
  /** absolute path of the data folder */
  readonly data: string
  readonly store: StoreChoice
  /** absolute path of the folder of objects; undefined: in the data folder */
  readonly blobs: string | undefined
  /** 32 bytes each, the same at all hosts of a cluster; absent: they are in the data folder */
  readonly sharedKeys?: SharedKeys
  /** one of several hosts on the store; undefined: alone */
  readonly cluster: ClusterChoice | undefined
  /** the first tenant's pair when it was chosen by whoever starts the host */
  readonly pair: { readonly key: string; readonly secret: string } | undefined
  /** whose the first pair is */
  readonly tenant: string
  /** names of the services to serve; undefined: all */
  readonly only: readonly string[] | undefined
  /** whether an empty store gets something to look at */
  readonly demo: boolean
  readonly logLevel: LogLevel
  /** addresses of proxies that are believed, with commas between them; undefined: none */
  readonly trustProxy: string | undefined
  /** private addresses that callURL may call, and servers of models */
  readonly allowUrl: readonly string[]
  /** hosts that packages of functions may come from, beside those of the settings of npm and pip */
  readonly installFrom: readonly string[]
  /** packages of functions in Python want exact versions */
  readonly requirePinned: boolean
  /** files and folders with plugs beside the built-in ones */
  readonly plugs: readonly string[]
  readonly limits: Limits
  /** messages, commands and alarms that rules may make of one arrival */
  readonly maxDescendants: number
  /** keys of messages that do not count when a message is compared with one that was taken */
  readonly identityIgnores: readonly string[]
  readonly duplicates: (typeof DUPLICATES)[number]
  /** ms */
  readonly dedupWindow: number
  /** how much is kept of inputs of tasks; undefined: nothing */
  readonly keepInputs: { readonly ageMs: number; readonly bytes: number } | undefined
  /** which timestamps of live messages are taken */
  readonly times: TimeBounds
  readonly issuer: ForeignIssuer | undefined
  /** where contents of objects are kept: with everything else, or in a bucket of S3, by its address */
  readonly objects: { readonly kind: 'files' } | { readonly kind: 's3'; readonly url: string }
  /** how clients reach this host, without a slash at the end; undefined: at its address */
  readonly url: string | undefined
  /** origin of webscripts and public objects, which then has no routes of the API; undefined: they share that of the API */
  readonly webscriptUrl: string | undefined
  /** how functions of tenants are run */
  readonly functions: FunctionsMode
  /** absolute path of a folder with a virtual environment of Python in each of its folders */
  readonly modelRuntimes: string
}

/** `fenced`: kept from the machine, or not run at all; `trusted`: as other programs of the host's user; `off`: not run. */
export type FunctionsMode = (typeof FUNCTIONS_MODES)[number]

const DUPLICATES = ['drop', 'take'] as const
const BAD_TIMES = ['receipt', 'refuse'] as const
const SPAN_FORM = 'write a duration such as 90s, 30m, 1h, 30d or PT30M, or off'

const FUNCTIONS_MODES = ['off', 'trusted', 'fenced'] as const

export interface ClusterChoice {
  /** where the other hosts reach this one; undefined: where it listens */
  readonly advertise: string | undefined
}

export interface SharedKeys {
  /** secrets of tenants are sealed with it */
  readonly seal: Uint8Array
  /** addresses of objects are signed with keys that are made of it */
  readonly objects: Uint8Array
}

export type StoreChoice =
  { readonly medium: 'sqlite' } | { readonly medium: 'memory' } | { readonly medium: 'postgres'; readonly url: string }

/** An option as people give it: by its flag, else in the environment, else its default. */
export interface Option {
  /** as in `--log-level` */
  readonly flag: string
  readonly env: string
  /** how help names the value; absent for a switch */
  readonly value?: string
  readonly default?: string
  /** may be given several times; in the environment with commas between */
  readonly many?: true
  readonly help: string
}

export const OPTIONS = {
  port: { flag: 'port', env: 'PORT', value: 'number', default: '8080', help: '0 picks a free one' },
  host: { flag: 'host', env: 'REFLEXARC_HOST', value: 'address', default: '127.0.0.1', help: 'where to listen' },
  mqtt: {
    flag: 'mqtt',
    env: 'REFLEXARC_MQTT',
    value: 'port',
    help: 'also speak MQTT there, such as 1883; off without',
  },
  data: { flag: 'data', env: 'REFLEXARC_DATA', value: 'folder', default: './data', help: 'where everything is kept' },
  store: {
    flag: 'store',
    env: 'REFLEXARC_STORE',
    value: 'medium',
    default: 'sqlite:',
    help: 'sqlite: in the data folder, memory: for nothing that lasts, or an address postgres://...',
  },
  blobs: {
    flag: 'blobs',
    env: 'REFLEXARC_BLOBS',
    value: 'folder',
    help: 'where objects are kept, such as assets of functions; default in the data folder, in a cluster one that all hosts share',
  },
  cluster: {
    flag: 'cluster',
    env: 'REFLEXARC_CLUSTER',
    help: 'one of several hosts on the same PostgreSQL',
  },
  advertise: {
    flag: 'advertise',
    env: 'REFLEXARC_ADVERTISE',
    value: 'address',
    help: 'with --cluster: where the other hosts reach this one, such as http://10.0.0.1:8080; default where it listens',
  },
  key: { flag: 'key', env: 'REFLEXARC_API_KEY', value: 'key', help: 'API key of the first tenant, with its secret' },
  secret: {
    flag: 'secret',
    env: 'REFLEXARC_API_SECRET',
    value: 'secret',
    help: 'its secret; better given in the environment, where other users of the machine do not see it',
  },
  tenant: { flag: 'tenant', env: 'REFLEXARC_TENANT', value: 'name', default: 'default', help: 'the first tenant' },
  only: { flag: 'only', env: 'REFLEXARC_ONLY', value: 'services', help: 'serve a part, such as rules,alarms' },
  plugs: {
    flag: 'plugs',
    env: 'REFLEXARC_PLUGS',
    value: 'path',
    many: true,
    help: 'ES module that exports plugs made by definePlug, or a folder of such; read again on SIGHUP',
  },
  allowUrl: {
    flag: 'allow-url',
    env: 'REFLEXARC_ALLOW_URL',
    value: 'place',
    many: true,
    help: 'private name, address or network that may be called, by callURL and for models of other servers, such as intranet.local:8080 or 10.0.0.0/8',
  },
  installFrom: {
    flag: 'install-from',
    env: 'REFLEXARC_INSTALL_FROM',
    value: 'host',
    many: true,
    help: 'host that packages of functions may come from, beside the registries in .npmrc and pip.conf, such as files.intranet.local:8443',
  },
  requirePinned: {
    flag: 'require-pinned',
    env: 'REFLEXARC_REQUIRE_PINNED',
    help: 'refuse functions whose requirements.txt leaves a version open',
  },
  empty: { flag: 'empty', env: 'REFLEXARC_EMPTY', help: 'no demo data' },
  logLevel: {
    flag: 'log-level',
    env: 'REFLEXARC_LOG_LEVEL',
    value: 'level',
    default: 'info',
    help: `${LOG_LEVELS.join(', ')}; debug has a line for each request`,
  },
  rateLimit: {
    flag: 'rate-limit',
    env: 'REFLEXARC_RATE_LIMIT',
    value: 'number',
    default: '10000',
    help: 'requests a second of one key; 0 for no limit',
  },
  bodyLimit: {
    flag: 'body-limit',
    env: 'REFLEXARC_BODY_LIMIT',
    value: 'bytes',
    default: '1048576',
    help: 'of a request',
  },
  timeLimit: {
    flag: 'time-limit',
    env: 'REFLEXARC_TIME_LIMIT',
    value: 'ms',
    default: '30000',
    help: 'until the answer to a request begins',
  },
  trustProxy: {
    flag: 'trust-proxy',
    env: 'REFLEXARC_TRUST_PROXY',
    value: 'addresses',
    help: 'proxies that say in X-Forwarded-For whom they ask for, such as loopback or 10.0.0.0/8; none without',
  },
  functions: {
    flag: 'functions',
    env: 'REFLEXARC_FUNCTIONS',
    value: 'mode',
    default: 'fenced',
    help: 'how uploaded functions run: fenced keeps them from the machine, trusted does not, off runs none',
  },
  modelRuntimes: {
    flag: 'model-runtimes',
    env: 'REFLEXARC_MODEL_RUNTIMES',
    value: 'folder',
    help: 'with virtual environments of Python for hosted models; model-runtimes in the data folder without',
  },
  objects: {
    flag: 'objects',
    env: 'REFLEXARC_OBJECTS',
    value: 'store',
    default: 'files:',
    help: 'where contents of objects are kept: files: with everything else, or s3://bucket/prefix?endpoint=...&region=...',
  },
  url: {
    flag: 'url',
    env: 'REFLEXARC_URL',
    value: 'address',
    help: 'how clients reach this host, such as https://iot.example.com; for signed addresses that it sends by itself',
  },
  webscriptUrl: {
    flag: 'webscript-url',
    env: 'REFLEXARC_WEBSCRIPT_URL',
    value: 'address',
    help: 'origin of webscripts and public objects alone, such as https://scripts.example.com; browsers keep credentials of the API from it',
  },
  maxDescendants: {
    flag: 'max-descendants',
    env: 'REFLEXARC_MAX_DESCENDANTS',
    value: 'number',
    default: '1000',
    help: 'messages, commands and alarms that rules may make of one arrival; beyond it they are refused as a loop',
  },
  maxAhead: {
    flag: 'max-ahead',
    env: 'REFLEXARC_MAX_AHEAD',
    value: 'duration',
    default: '1h',
    help: 'how far a timestamp of a live message may be beyond the clock, such as 30m or PT30M; off for any',
  },
  maxBehind: {
    flag: 'max-behind',
    env: 'REFLEXARC_MAX_BEHIND',
    value: 'duration',
    default: '30d',
    help: 'how far it may be before the clock; off for any',
  },
  badTime: {
    flag: 'bad-time',
    env: 'REFLEXARC_BAD_TIME',
    value: 'what',
    default: 'receipt',
    help: 'what becomes of a message whose timestamp is further away: receipt takes it as if it had none, refuse refuses it over HTTP and WebSocket',
  },
  identityIgnores: {
    flag: 'identity-ignores',
    env: 'REFLEXARC_IDENTITY_IGNORES',
    value: 'keys',
    help: 'keys of messages that do not count when a message is compared with one that was taken, such as receivedAt,seq; the same on all hosts of a cluster',
  },
  duplicates: {
    flag: 'duplicates',
    env: 'REFLEXARC_DUPLICATES',
    value: 'what',
    default: 'drop',
    help: 'what tasks do with a message that they have taken, unless their rule says it: drop or take; the same on all hosts of a cluster',
  },
  dedupWindow: {
    flag: 'dedup-window',
    env: 'REFLEXARC_DEDUP_WINDOW',
    value: 'duration',
    default: '10m',
    help: 'how long tasks that take late messages know the last 1,000 of a resource again, such as 30m; the same on all hosts of a cluster',
  },
  keepInputs: {
    flag: 'keep-inputs',
    env: 'REFLEXARC_KEEP_INPUTS',
    value: 'limits',
    default: '7d,4GB',
    help: 'how long, and how many bytes of each tenant, inputs of tasks are kept to look at the past and to rehearse rules; 0 keeps none',
  },
  jwks: {
    flag: 'jwks',
    env: 'REFLEXARC_JWKS',
    value: 'address',
    help: 'public keys of an issuer whose bearer tokens are good here',
  },
  issuer: { flag: 'issuer', env: 'REFLEXARC_ISSUER', value: 'name', help: 'what `iss` of those tokens must be' },
  audience: { flag: 'audience', env: 'REFLEXARC_AUDIENCE', value: 'name', help: 'what `aud` of those tokens must be' },
  tenantClaim: {
    flag: 'tenant-claim',
    env: 'REFLEXARC_TENANT_CLAIM',
    value: 'name',
    default: 'tenant',
    help: 'the claim of those tokens that names the tenant',
  },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof OPTIONS
/** Values as they were given; `true` for a switch, a list for what may be given several times. */
export type Given = Readonly<Partial<Record<OptionName, string | number | boolean | readonly string[] | undefined>>>
export type Environment = Readonly<Record<string, string | undefined>>

/** Everything that is wrong is thrown at once, as `USAGE`. `services`: the names that `--only` may have. */
export function readConfig(given: Given, env: Environment, services: readonly string[]): Config {
  const problems: string[] = []
  /** the text of an option, and how to call it when it is wrong; a variable that is empty is not set */
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
    // What may be a secret is never repeated.
    const shown = name === 'secret' || name === 'store' ? 'this value' : `"${text}"`
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
  const mqtt = read('mqtt', wholeUpTo(65_535), 'write a number from 0 to 65535; MQTT usually has 1883')
  const host = read('host', nonEmpty, 'write an address such as 127.0.0.1 or 0.0.0.0')
  const store = read('store', storeOf, 'write sqlite:, memory: or postgres://user@host/database')
  const tenant = read(
    'tenant',
    (name) => (isTenant(name) ? name : undefined),
    'write 1 to 64 letters, digits, dots, - or _, no _ at the start, and none of ".", ".." and "webscripts"',
  )
  const only = read('only', (list) => servicesOf(list, services), `there are ${services.join(', ') || 'none'}`)
  const functions = read(
    'functions',
    (mode) => FUNCTIONS_MODES.find((one) => one === mode),
    `there are ${FUNCTIONS_MODES.join(', ')}`,
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
    problems.push('--webscript-url: it names the host of --url; give webscripts a name or port of their own')
  }
  const descendants = read('maxDescendants', wholeUpTo(1e9), 'write a whole number from 1 to 1000000000')
  const ahead = read('maxAhead', spanOf, SPAN_FORM)
  const behind = read('maxBehind', spanOf, SPAN_FORM)
  const badTime = read('badTime', (what) => BAD_TIMES.find((one) => one === what), `write ${BAD_TIMES.join(' or ')}`)
  const duplicates = read('duplicates', (what) => DUPLICATES.find((one) => one === what), 'write drop or take')
  const dedupWindow = read('dedupWindow', lengthOf, 'write a duration such as 90s, 10m or PT10M')
  const keepInputs = read('keepInputs', keptOf, 'write an age, a size or both, such as 7d,4GB, or 0')
  if (descendants === 0) problems.push('--max-descendants: 0 lets rules do nothing together; write a number from 1')
  if (bytes === 0) problems.push('--body-limit: 0 lets nothing in; write a number of bytes from 1')
  if (ms === 0) problems.push('--time-limit: 0 is no time; write ms from 1')

  const trustProxy = read(
    'trustProxy',
    proxiesOf,
    'write addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, with commas between them',
  )
  const key = read('key', keyOf, 'write visible characters without a colon, at most 128')
  const secret = read('secret', secretOf, 'write visible characters, at most 256')
  if ((text('key') === undefined) !== (text('secret') === undefined)) {
    problems.push('--key and --secret: one is given without the other; give both, or none and a pair is made')
  }
  const jwks = read('jwks', jwksOf, 'write an https address, or http on this machine')
  if (jwks === undefined && (given.issuer ?? given.audience) !== undefined) {
    problems.push('--issuer and --audience: they say which tokens are good, but --jwks is not given')
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
      `--install-from: "${noHost.slice(0, 100)}" is no host; write registry.intranet.local or registry.intranet.local:8443`,
    )
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))

  const issuer = text('issuer')
  const audience = text('audience')
  const data = resolve(text('data') ?? '')
  return {
    port: port ?? 0,
    host: host ?? '',
    mqtt,
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
    issuer: jwks && {
      jwks,
      tenantClaim: text('tenantClaim') ?? '',
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
    },
  }
}

function isOn(text: string | undefined): boolean {
  return text === 'true' || text === '1'
}

/** ms; `Infinity` for `off` */
function spanOf(text: string): number | undefined {
  return text === 'off' ? Infinity : lengthOf(text)
}

/** ms */
function lengthOf(text: string): number | undefined {
  try {
    const ms = durationMs(text)
    return ms >= 0 ? ms : undefined
  } catch {
    return undefined
  }
}

/** A limit that is absent does not apply. */
function keptOf(text: string): Config['keepInputs'] | 'nothing' {
  if (text === '0') return 'nothing'
  const parts = text.split(',').map((part) => part.trim())
  const sizes = parts.flatMap((part) => sizeOf(part) ?? [])
  const ages = parts.flatMap((part) => (sizeOf(part) === undefined ? (lengthOf(part) ?? []) : []))
  if (sizes.length > 1 || ages.length > 1 || sizes.length + ages.length < parts.length) return undefined
  const [ageMs = Infinity] = ages
  const [bytes = Infinity] = sizes
  return ageMs > 0 && bytes > 0 ? { ageMs, bytes } : undefined
}

const SIZES = { KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const

/** bytes */
function sizeOf(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6}(?:\.\d{1,3})?) ?([KMGT]B)$/i.exec(text) ?? []
  return unit === undefined ? undefined : Number(count) * SIZES[unit.toUpperCase() as keyof typeof SIZES]
}

function wholeUpTo(most: number): (text: string) => number | undefined {
  return (text) => (/^\d{1,10}$/.test(text) && Number(text) <= most ? Number(text) : undefined)
}

function nonEmpty(text: string): string | undefined {
  return text.trim() === '' ? undefined : text
}

/** Undefined for what is none. */
export function storeOf(text: string): StoreChoice | undefined {
  if (text === 'sqlite:') return { medium: 'sqlite' }
  if (text === 'memory:') return { medium: 'memory' }
  return /^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text) ? { medium: 'postgres', url: text } : undefined
}

function objectsOf(text: string): Config['objects'] | undefined {
  if (text === 'files:') return { kind: 'files' }
  return /^s3:\/\/[^/?]+/.test(text) && URL.canParse(text) ? { kind: 's3', url: text } : undefined
}

function hostUrlOf(text: string): string | undefined {
  const { protocol = '', search = '', hash = '', username = '' } = URL.canParse(text) ? new URL(text) : {}
  const isHost = /^https?:$/.test(protocol) && search === '' && hash === '' && username === ''
  return isHost ? text.replace(/\/+$/, '') : undefined
}

function originOf(text: string): string | undefined {
  const url = hostUrlOf(text)
  return url !== undefined && new URL(url).pathname === '/' ? new URL(url).origin : undefined
}

function servicesOf(list: string, known: readonly string[]): readonly string[] | undefined {
  const names = [...new Set(list.split(',').map((name) => name.trim()))]
  return names.every((name) => known.includes(name)) ? names : undefined
}

const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal']

function proxiesOf(list: string): string | undefined {
  const names = list.split(',').map((name) => name.trim())
  return names.every(isNetwork) ? names.join(',') : undefined
}

function isNetwork(name: string): boolean {
  if (NAMED_NETWORKS.includes(name)) return true
  const [address = '', bits, ...more] = name.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

function keyOf(text: string): string | undefined {
  return /^[!-9;-~]{1,128}$/.test(text) ? text : undefined
}

function secretOf(text: string): string | undefined {
  return /^[!-~]{1,256}$/.test(text) ? text : undefined
}

function jwksOf(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere) ? url : undefined
}
