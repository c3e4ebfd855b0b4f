import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OPTIONS, readConfig, type Environment, type Given } from '../../src/host/config.ts'
import { AppError } from '../../src/kernel/errors.ts'

const SERVICES = ['rules', 'alarms']
const read = (given: Given = {}, env: Environment = {}) => readConfig(given, env, SERVICES)
const problems = (given: Given, env: Environment = {}): readonly string[] => {
  try {
    read(given, env)
  } catch (error) {
    if (error instanceof AppError && error.code === 'USAGE') return error.message.split('\nerror: ')
    throw error
  }
  return []
}

describe('the options', () => {
  it('have defaults that serve on this machine alone, from ./data', () => {
    expect(read()).toEqual({
      port: 8080,
      host: '127.0.0.1',
      mqttHost: '127.0.0.1',
      auditAge: 31_536_000_000,
      data: resolve('data'),
      store: { medium: 'sqlite' },
      pair: undefined,
      tenant: 'default',
      only: undefined,
      demo: true,
      logLevel: 'info',
      trustProxy: undefined,
      allowUrl: [],
      installFrom: [],
      requirePinned: false,
      plugs: [],
      functions: 'fenced',
      modelRuntimes: resolve('./data/model-runtimes'),
      maxDescendants: 1000,
      identityIgnores: [],
      duplicates: 'drop',
      dedupWindow: 600_000,
      keepInputs: { ageMs: 604_800_000, bytes: 4e9 },
      times: { ahead: 3_600_000, behind: 2_592_000_000, refuses: false },
      objects: { kind: 'files' },
      url: undefined,
      limits: { bodyBytes: 1_048_576, requestMs: 30_000, ratePerKey: 10_000 },
      issuer: undefined,
    })
  })

  it('are read from the flag, then from the environment; empty values count as unset', () => {
    expect(read({}, { PORT: '9000' }).port).toBe(9000)
    expect(read({ port: '9001' }, { PORT: '9000' }).port).toBe(9001)
    expect(read({}, { PORT: '' }).port).toBe(8080)
  })

  it.each<[string, Given, Environment, object]>([
    ['a pair', {}, { REFLEXARC_API_KEY: 'k', REFLEXARC_API_SECRET: 's:t' }, { pair: { key: 'k', secret: 's:t' } }],
    ['half of it each', { key: 'k' }, { REFLEXARC_API_SECRET: 's' }, { pair: { key: 'k', secret: 's' } }],
    ['a part', { only: 'alarms, rules' }, {}, { only: ['alarms', 'rules'] }],
    ['places', { allowUrl: ['10.0.0.0/8', 'a.local:80'] }, {}, { allowUrl: ['10.0.0.0/8', 'a.local:80'] }],
    ['paths', { plugs: ['a.mjs', 'b, c'] }, {}, { plugs: ['a.mjs', 'b, c'] }],
    ['paths from outside', {}, { REFLEXARC_PLUGS: 'a.mjs, b' }, { plugs: ['a.mjs', 'b'] }],
    ['no demo', { empty: true }, {}, { demo: false }],
    ['TLS', { tlsCert: 'a.crt', tlsKey: 'a.key' }, {}, { tls: { cert: resolve('a.crt'), key: resolve('a.key') } }],
    ['MQTT on the address of the host', { host: '0.0.0.0' }, {}, { mqttHost: '0.0.0.0' }],
    ['MQTT on another address', { mqttHost: '::' }, {}, { mqttHost: '::' }],
    ['duplicates', { duplicates: 'take', dedupWindow: 'PT1H' }, {}, { duplicates: 'take', dedupWindow: 3_600_000 }],
    ['kept inputs', { keepInputs: '500 MB' }, {}, { keepInputs: { ageMs: Infinity, bytes: 5e8 } }],
    ['kept inputs by age', { keepInputs: 'PT1H' }, {}, { keepInputs: { ageMs: 3_600_000, bytes: Infinity } }],
    ['no kept inputs', { keepInputs: '0' }, {}, { keepInputs: undefined }],
    ['no demo, from outside', {}, { REFLEXARC_EMPTY: '1' }, { demo: false }],
    ['memory', { store: 'memory:' }, {}, { store: { medium: 'memory' } }],
    [
      'a database',
      { store: 'postgres://me@host/db' },
      {},
      { store: { medium: 'postgres', url: 'postgres://me@host/db' } },
    ],
    ['a bucket of S3', { objects: 's3://b/p?region=x' }, {}, { objects: { kind: 's3', url: 's3://b/p?region=x' } }],
    ['where it is reached', { url: 'https://iot.example/base/' }, {}, { url: 'https://iot.example/base' }],
    ['an origin of webscripts', { webscriptUrl: 'https://W.example:443/' }, {}, { webscriptUrl: 'https://w.example' }],
    ['proxies', { trustProxy: 'loopback, 10.0.0.0/8,::1' }, {}, { trustProxy: 'loopback,10.0.0.0/8,::1' }],
    [
      'an hour and thirty days around the clock',
      {},
      {},
      { times: { ahead: 3_600_000, behind: 2_592_000_000, refuses: false } },
    ],
    ['any time', { maxAhead: 'off', maxBehind: 'off' }, {}, { times: { ahead: Infinity, behind: Infinity } }],
    ['times', { maxAhead: 'PT5M' }, { REFLEXARC_BAD_TIME: 'refuse' }, { times: { ahead: 300_000, refuses: true } }],
    ['numbers from a program', { port: 0, rateLimit: 0 }, {}, { port: 0 }],
  ])('accept %s', (_what, given, env, expected) => {
    expect(read(given, env)).toMatchObject(expected)
  })

  it('accept a foreign issuer', () => {
    const { issuer } = read({ jwks: 'https://issuer.example/keys', issuer: 'i', audience: 'a', tenantClaim: 'org' })
    expect(issuer).toEqual({
      jwks: new URL('https://issuer.example/keys'),
      issuer: 'i',
      audience: 'a',
      tenantClaim: 'org',
      roles: expect.any(Map) as unknown,
    })
  })

  it.each<[Given, string]>([
    [{ port: '65536' }, '--port: "65536" cannot be used; write a number from 0 to 65535'],
    [{ port: '8080x' }, '--port: "8080x" cannot be used; write a number from 0 to 65535'],
    [{ tlsKey: 'a' }, '--tls-cert and --tls-key: one is missing; write both, or neither for HTTP'],
    [{ mqtts: 8883 }, '--mqtts: --tls-cert and --tls-key are missing; name the files of the certificate and its key'],
    [{ host: ' ' }, '--host: " " cannot be used; write an address such as 127.0.0.1 or 0.0.0.0'],
    [
      { store: 'mysql://a:b@c/d' },
      '--store: this value cannot be used; write sqlite:, memory: or postgres://user@host/database',
    ],
    ...['_host', '.', '..', 'webscripts'].map((tenant): [Given, string] => [
      { tenant },
      `--tenant: "${tenant}" cannot be used; write 1 to 64 letters, digits, dots, - or _, no _ at the start, and none of ".", ".." and "webscripts"`,
    ]),
    [{ only: 'rules,alarm' }, '--only: "rules,alarm" cannot be used; the services are rules, alarms'],
    [{ logLevel: 'loud' }, '--log-level: "loud" cannot be used; write one of trace, debug, info, warn, error, silent'],
    ...['10.0.0.0/33', '10.0.0', 'everybody', '::1/0', '10.0.0.0/8/8'].map((list): [Given, string] => [
      { trustProxy: list },
      `--trust-proxy: "${list}" cannot be used; write addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, with commas between them`,
    ]),
    [
      { webscriptUrl: 'https://w.example/scripts' },
      '--webscript-url: "https://w.example/scripts" cannot be used; write http:// or https:// and a name, without a path',
    ],
    [
      { webscriptUrl: 'http://iot.example', url: 'http://iot.example/base' },
      '--webscript-url: same origin as --url; use another name or port',
    ],
    [{ rateLimit: '-1' }, '--rate-limit: "-1" cannot be used; write a whole number, 0 for no limit'],
    [
      { maxAhead: 'soon' },
      '--max-ahead: "soon" cannot be used; write a duration such as 90s, 30m, 1h, 30d or PT30M, or off',
    ],
    [{ badTime: 'drop' }, '--bad-time: "drop" cannot be used; write receipt or refuse'],
    [{ bodyLimit: '0' }, '--body-limit: 0 would reject all bodies; write a number of bytes from 1'],
    [{ timeLimit: '0' }, '--time-limit: 0 would reject all requests; write ms from 1'],
    [{ key: 'a' }, '--key and --secret: one is missing; write both, or neither to create a pair'],
    [{ key: 'a:b', secret: 's' }, '--key: "a:b" cannot be used; write visible characters without a colon, at most 128'],
    [{ key: 'a', secret: 's t' }, '--secret: this value cannot be used; write visible characters, at most 256'],
    [
      { jwks: 'http://issuer.example' },
      '--jwks: "http://issuer.example" cannot be used; write an https address, or http on this machine',
    ],
    [
      { allowUrl: ['10.0.0.0/8', '169.254.169.254'] },
      '--allow-url: "169.254.169.254" is not a valid allow-list entry; cloud metadata addresses are always blocked',
    ],
    [
      { installFrom: ['files.local:8443', 'https://files.local/'] },
      '--install-from: "https://files.local/" is not a host; write registry.intranet.local or registry.intranet.local:8443',
    ],
    [
      { objects: 's3:bucket' },
      '--objects: "s3:bucket" cannot be used; write files: or s3://bucket/prefix?endpoint=https://...&region=...',
    ],
    [
      { url: 'iot.example' },
      '--url: "iot.example" cannot be used; write http:// or https://, a name, and a path if there is one',
    ],
    [
      { issuer: 'i' },
      '--issuer and --audience: --jwks is missing; set the address of the keys of the issuer, or omit both',
    ],
  ])('%j is rejected, and the error shows what is right', (given, problem) => {
    expect(problems(given)).toEqual([problem])
  })

  it('are rejected under the name with which they were set', () => {
    expect(problems({}, { PORT: 'x' })).toEqual(['PORT: "x" cannot be used; write a number from 0 to 65535'])
  })

  it('are all rejected at once', () => {
    expect(problems({ port: 'x', tenant: '', logLevel: 'y' })).toHaveLength(3)
  })

  it('have a flag and a variable each that no other has', () => {
    const all = Object.values(OPTIONS)
    expect(new Set(all.map(({ flag }) => flag)).size).toBe(all.length)
    expect(new Set(all.map(({ env }) => env)).size).toBe(all.length)
  })
})
