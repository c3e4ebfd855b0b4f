/** What a user gets from npm: the tarball is built, packed and installed into an empty project, and used there. */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Served } from './cli/served.ts'
import { filesUnder, readText, root } from './support/repository.ts'
import { packLibrary, type PackedLibrary } from './support/packed-library.ts'
import { mustRun, run } from './support/run-command.ts'
import { scanSource } from './support/scan-source.ts'

interface Manifest {
  exports: Record<string, string | Record<string, string>>
  bin: Record<string, string>
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  devDependencies: Record<string, string>
}

const manifest = JSON.parse(readText('package.json')) as Manifest
const tool = (...path: string[]) => join(root, 'node_modules', ...path)

/** The library in twelve lines, around them a plug, a rule and messages of the user's own. */
const EXAMPLE = `
import { createEngine, definePlug, simulate } from 'reflexarc'
import { builtins } from 'reflexarc/plugins'

const myPlug = definePlug({
  name: 'warmth',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Hot', 'Cold'],
  input: { limit: { type: 'double', mandatory: true, description: 'degrees', example: 90 } },
  execute: (context) => (Number(context.streamValue('temperature')) > context.properties.limit ? 'Hot' : 'Cold'),
})
const rule = {
  sensors: [{ label: 'temperature_1', name: 'warmth', properties: { limit: 90 }, resource: '$' }],
  actuators: [{ label: 'alarm_1', name: 'log', properties: { message: 'too hot' } }],
  triggers: [{ sourceLabel: 'temperature_1', destinationLabel: 'alarm_1', statesTrigger: ['Hot'] }],
}
const from = '2026-03-01T00:00:00Z'
const until = '2026-03-01T02:00:00Z'
const plugs = [...builtins, myPlug]
const messages = [
  { timestamp: from, resource: 'boiler-1', temperature: 70 },
  { timestamp: '2026-03-01T01:00:00Z', resource: 'boiler-1', temperature: 93 },
]

const engine = createEngine({ plugs: [...builtins, myPlug] })
const task = await engine.start(rule, { resource: 'boiler-1' })
engine.events$.subscribe((e) => console.log(e.type, e.node))
const taken = engine.receive({ resource: 'boiler-1', temperature: 93 })
const why = engine.explain(task.id, 'alarm_1')
await engine.stop(task.id)

const run = await simulate(rule, { messages, from, until, plugs, resource: 'boiler-1' })
const fired = run.events.filter((e) => e.type === 'fired').map((e) => [e.node, e.time])
console.log(JSON.stringify({ taken, node: why.node, hasFired: why.fired !== null, fired }))
`
const EXPECTED = {
  taken: true,
  node: 'alarm_1',
  hasFired: true,
  fired: [['alarm_1', Date.parse('2026-03-01T01:00:00Z')]],
}

/** A client, over a fetch that answers itself. */
const ASKING = `
import { AppError, createClient, type Client } from 'reflexarc/client'

const client: Client = createClient({
  url: 'http://127.0.0.1:8080/',
  credentials: { token: 't' },
  fetch: async (url) => Response.json(String(url).endsWith('/none') ? { error: 'not there' } : { id: 'a' }, { status: String(url).endsWith('/none') ? 404 : 200 }),
})
const { value } = await client.resources.resources.get('a')
const code = await client.alarms.get('none').catch((error: unknown) => (error instanceof AppError ? error.code : 'other'))
console.log(value.id, code)
`

/** A bench of a rule. */
const MEASURED = `
import { benchReport, benchRule, type BenchResult } from 'reflexarc/bench'
import type { Rule } from 'reflexarc'

const rule: Rule = {
  sensors: [{ label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } }],
  actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'] }],
}
const messages = [91, 92].map((t, i) => ({ resource: 'r', timestamp: i * 1000, t }))
const result: BenchResult = await benchRule(rule, { messages, resource: 'r', rounds: 1, seconds: 0.01, rate: 50000 })
console.log(benchReport(result, 'text'))
`

let library: PackedLibrary
const inProject = (name: string, text: string) => {
  writeFileSync(join(library.project, name), text)
  return name
}
/** A file of the package as it is installed. */
const inPackage = (path: string) => readFileSync(join(library.project, 'node_modules', 'reflexarc', path), 'utf8')
/** What the compiler says about files of the project, by their names: of those that it is content with, nothing. */
const compile = (files: Readonly<Record<string, string>>, more: object = {}): Readonly<Record<string, string>> => {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    ...more,
  }
  const names = Object.entries(files).map(([name, text]) => inProject(name, text))
  inProject('tsconfig.json', JSON.stringify({ compilerOptions, files: names }))
  const { stdout } = run(process.execPath, [tool('typescript', 'bin', 'tsc'), '-p', '.'], library.project)
  const problems: Record<string, string> = {}
  for (const line of stdout.split('\n')) {
    const file = /^(.+?)\(\d+,\d+\): /.exec(line)?.[1] ?? (line.startsWith('error') ? 'elsewhere' : undefined)
    if (file !== undefined) problems[file] = `${problems[file] ?? ''}${line}\n`
  }
  return problems
}
const reflexarc = () => join(library.project, 'node_modules', '.bin', 'reflexarc')
/** Programs that begin with `#!/usr/bin/env node` run on the Node of the tests. */
const withNode = `${dirname(process.execPath)}:${process.env['PATH']}`
/** A Node of this machine that is older than the store wants. */
const oldNode = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
  const major = existsSync(path) ? Number(run(path, ['-p', 'process.versions.node.split(".")[0]'], root).stdout) : 24
  return major >= 20 && major < 24
})
const lines = (text: string) => text.trimEnd().split('\n')

beforeAll(() => {
  library = packLibrary()
})
afterAll(() => library.remove())

describe('the twelve lines', () => {
  it('run from JavaScript', () => {
    const printed = lines(mustRun(process.execPath, [inProject('example.mjs', EXAMPLE)], library.project))
    expect(printed).toContain('fired alarm_1')
    expect(JSON.parse(printed.at(-1) ?? '')).toEqual(EXPECTED)
  })

  it('run from TypeScript', () => {
    const printed = lines(mustRun(process.execPath, [inProject('example.ts', EXAMPLE)], library.project))
    expect(JSON.parse(printed.at(-1) ?? '')).toEqual(EXPECTED)
  })
})

describe("TypeScript's strictest settings, declarations of the library included,", () => {
  const declared = [...readText('src/core/engine/events.ts').matchAll(/^export (?:interface|type) (\w+)/gm)]
  const events = `export type { ${declared.map(([, name]) => name).join(', ')} } from 'reflexarc'\n`
  let problems: Readonly<Record<string, string>> = {}
  beforeAll(() => {
    const wrong = EXAMPLE.replace('context.properties.limit', 'context.properties.limit.length')
    problems = compile({
      'example.ts': EXAMPLE,
      'wrong.ts': wrong,
      'events.ts': events,
      'asking.ts': ASKING,
      'measured.ts': MEASURED,
    })
  })

  it('are satisfied by programs with the library, the client and the bench', () => {
    expect({ ...problems, 'wrong.ts': '' }).toEqual({ 'wrong.ts': '' })
  })

  it('say what is wrong', () => {
    expect(problems['wrong.ts']).toMatch(
      /^wrong\.ts\(\d+,\d+\): error TS2339: Property 'length' does not exist[^\n]*\n$/,
    )
  })

  it('know every event, and every part of one', () => {
    expect(declared.length).toBeGreaterThan(15)
    expect(problems['events.ts']).toBeUndefined()
  })
})

describe('the package', () => {
  it('exports files that are in the tarball', () => {
    const targets = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    )
    const all = [...targets, ...Object.values(manifest.bin)].map((path) => path.replace(/^\.\//, ''))
    expect(all.length).toBeGreaterThanOrEqual(6)
    expect(all.filter((path) => !library.files.includes(path))).toEqual([])
  })

  it('holds no tests, no benches and no sources', () => {
    const known = /^(?:dist\/|docs\/|fixtures\/|package\.json$|README\.md$|LICENSE$)/
    expect(library.files.filter((path) => !known.test(path) || path.includes('.test.'))).toEqual([])
    expect(library.files.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))).toEqual([])
  })

  it('has no script that an install would run, nor anything else of the checkout', () => {
    const packed = JSON.parse(inPackage('package.json')) as Record<string, unknown>
    expect(
      Object.keys(packed).filter((key) => ['scripts', 'devDependencies', 'knip', 'private'].includes(key)),
    ).toEqual([])
    expect(packed['engines']).toEqual({ node: '>=20' })
  })

  it('brings rxjs and what reads the command line, and nothing else', () => {
    const modules = join(library.project, 'node_modules')
    const folders = readdirSync(modules).filter((name) => !/^(?:\.|@types$|undici-types$)/.test(name))
    expect(folders).toEqual(['commander', 'reflexarc', 'rxjs', 'tslib'])
  })

  it('has the license of every package whose code is in it, and needs the ones that are not', () => {
    const imported = new Set(
      filesUnder(['src', 'plugins'], '.ts')
        .flatMap((path) => scanSource(readText(path)).imports.map((entry) => entry.specifier ?? ''))
        .filter((specifier) => !/^(?:[.#]|node:|$)/.test(specifier))
        .map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? ''),
    )
    const outside = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]
    const inside = [...inPackage('dist/THIRD-PARTY.md').matchAll(/^## (\S+) \S+ \(.+\)\n\n\S/gm)].map(
      ([, name]) => name,
    )
    expect(inside).toEqual(expect.arrayContaining(['acorn', 'immer', 'quickjs-emscripten-core', 'rrule', 'typebox']))
    expect(outside.filter((name) => !imported.has(name))).toEqual([])
    // ws is there as types alone
    const known = new Set([...outside, ...inside, 'ws'])
    expect([...imported].filter((name) => !known.has(name))).toEqual([])
    expect(inside.filter((name) => outside.includes(name ?? ''))).toEqual([])
  })

  it('takes ranges of what the user has too, and one version each of what tests run with', () => {
    const { dependencies, peerDependencies, devDependencies } = manifest
    const ranges = Object.values({ ...dependencies, ...peerDependencies })
    expect(ranges.filter((range) => !range.startsWith('^'))).toEqual([])
    expect(peerDependencies).toMatchObject({ rxjs: '^7.8.0', fastify: '^5.0.0' })
    expect(Object.keys(peerDependencies).filter((name) => !(name in devDependencies))).toEqual([])
  })

  it('loads a few files of its own for the library and all plugs, beside those of rxjs', () => {
    const count = `
import { registerHooks } from 'node:module'
const files = []
registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) })
await import('reflexarc')
await import('reflexarc/plugins')
console.log(JSON.stringify(files))
`
    const loaded = JSON.parse(mustRun(process.execPath, [inProject('count.mjs', count)], library.project)) as string[]
    const others = loaded.filter((url) => !/node_modules\/(?:rxjs|tslib)\//.test(url))
    expect(loaded.length - others.length, 'of rxjs').toBeGreaterThan(0)
    expect(others.filter((url) => !url.includes('/node_modules/reflexarc/dist/'))).toEqual([])
    expect(others.length).toBeGreaterThanOrEqual(2)
    expect(others.length).toBeLessThanOrEqual(8)
  })

  it('answers `reflexarc --help`', () => {
    const { code, stdout } = run(reflexarc(), ['--help'], library.project)
    expect({ code, usage: /reflexarc/.test(stdout) }).toEqual({ code: 0, usage: true })
  })

  it('has nothing that publint would have changed', () => {
    const { code, stdout } = run(
      process.execPath,
      [tool('publint', 'src', 'cli.js'), 'run', library.tarball, '--strict'],
      root,
    )
    expect(code, stdout).toBe(0)
  })

  it('has types that resolve from every kind of ES module project', () => {
    const attw = tool('@arethetypeswrong', 'cli', 'dist', 'index.js')
    const { code, stdout } = run(
      process.execPath,
      [attw, library.tarball, '--profile', 'esm-only', '--no-emoji', '--no-color'],
      root,
    )
    expect(code, stdout).toBe(0)
  })
})

describe('reflexarc serve without its packages', () => {
  it('says in one line what brings them', () => {
    const { code, stderr } = run(reflexarc(), ['serve', '--store', 'memory:', '--mqtt', '0'], library.project)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: .* npm install fastify@5 .*prom-client@15 mqtt-packet@9\n$/),
    ])
  })
})

describe('reflexarc/host', () => {
  beforeAll(() => {
    const { devDependencies, peerDependencies } = manifest
    const ofEngine = ['rxjs', 'fast-check']
    const names = Object.keys(peerDependencies).filter((name) => !ofEngine.includes(name))
    const versions: Record<string, string> = { ...devDependencies, fastify: '5.2.0' }
    library.install('rxjs@7.8.1', ...names.map((name) => `${name}@${versions[name]}`))
  })

  const mounted = `
import fastify from 'fastify'
import { definePlug } from 'reflexarc'
import { host, type KeyPair } from 'reflexarc/host'

const app = fastify()
const pairs: KeyPair[] = []
const siren = definePlug({ name: 'siren', version: '1.0.0', kind: 'actuator', execute: () => ({ message: 'wailing' }) })
await app.register(host, { plugs: [siren], store: 'memory:', prefix: '/rules', onFirstPair: (pair) => void pairs.push(pair) })
const [pair] = pairs
const authorization = \`Basic \${btoa(\`\${pair?.key}:\${pair?.secret}\`)}\`
const answers = [
  await app.inject('/rules/'),
  await app.inject({ url: '/rules/', headers: { authorization } }),
  await app.inject({ url: '/rules/api/actions/siren', headers: { authorization } }),
]
console.log(answers.map(({ statusCode }) => statusCode).join(' '))
await app.close()
`

  it('compiles and runs with the copies of rxjs and fastify that the user has', () => {
    const theirs = mounted.replace(
      'await app.close()',
      `
const beat = definePlug({ name: 'beat', version: '1.0.0', kind: 'sensor', states: ['On'], execute: () => 'On' })
const engine = createEngine({ plugs: [siren, beat] })
let stopped = 0
engine.events$.pipe(filter((event) => event.type === 'stopped')).subscribe(() => stopped++)
const task = await engine.start({ sensors: [{ label: 'a', name: 'beat', resource: 'r' }] }, { resource: 'r' })
await engine.stop(task.id)
console.log(stopped)
await app.close()`,
    )
    const text = `import { filter } from 'rxjs'\nimport { createEngine } from 'reflexarc'\n${theirs}`
    expect(compile({ 'theirs.ts': text }, { skipLibCheck: true })).toEqual({})
    const printed = lines(mustRun(process.execPath, [inProject('theirs.ts', text)], library.project))
    expect(printed.slice(-2)).toEqual(['401 200 200', '1'])
    expect(existsSync(join(library.project, 'node_modules', 'reflexarc', 'node_modules'))).toBe(false)
    const { devDependencies } = manifest
    library.install(`rxjs@${devDependencies['rxjs']}`, `fastify@${devDependencies['fastify']}`)
  })

  it('brings no package that has to be built on the way: none is native, none runs a script', () => {
    const modules = join(library.project, 'node_modules')
    const folders = readdirSync(modules).filter((name) => !/^(?:\.|@types$)/.test(name))
    const installed = folders.flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
    )
    expect(installed).toEqual(expect.arrayContaining(['pg', 'fastify', '@fastify/swagger-ui']))
    const built = installed.filter((name) => {
      const { scripts = {} } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as {
        scripts?: Record<string, string>
      }
      const runs = ['preinstall', 'install', 'postinstall'].some((step) => step in scripts)
      return runs || existsSync(join(modules, name, 'binding.gyp'))
    })
    expect(built).toEqual([])
  })

  it('serves from a folder, with the threads of its store, of scripts and of heavy work, and is asked by the client', async () => {
    const serve: [string, ...string[]] = [reflexarc(), 'serve']
    const options = ['--data', 'kept', '--empty', '--mqtt', '0', '--key', 'k', '--secret', 's']
    await using served = new Served(library.project, options, { PATH: withNode }, serve)
    const asking = `
import { createClient } from 'reflexarc/client'
const { broker, converter, rules } = createClient({ url: '${await served.listening()}', credentials: { key: 'k', secret: 's' } })
await broker.posting.events('boiler-1', { temperature: 93 })
console.log('posted')
const { rawData } = await rules.tools.call('sensors', 'script', undefined, { properties: { script: 'return { fine: 1 }' } })
console.log(JSON.stringify(rawData))
const template = '#foreach($i in [1..30000])#end{"metrics":[]}'
console.log(JSON.stringify((await converter.test({ type: 'velocity', template }, {})).metrics))
const long = { properties: { message: 'a'.repeat(3000) }, streamData: { a: 1 } }
console.log((await rules.tools.call('actions', 'log', undefined, long)).result)
`
    const printed = mustRun(process.execPath, [inProject('posting.mjs', asking)], library.project)
    expect(printed).toBe('posted\n{"fine":1}\n[]\ntrue\n')
    expect(await served.end('SIGTERM')).toBe(0)
  })

  it.skipIf(oldNode === undefined)('says on a Node without SQLite a correction', () => {
    const cli = join(library.project, 'node_modules', 'reflexarc', 'dist', 'cli.js')
    const { code, stderr } = run(oldNode ?? '', [cli, 'serve', '--data', 'never'], library.project)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: .* requires the SQLite of Node 24 or newer, .* is Node v2\d\.[^\n]*\n$/),
    ])
    expect(existsSync(join(library.project, 'never'))).toBe(false)
  })

  it('mounts on a server of the user, and ends with it', () => {
    expect(lines(mustRun(process.execPath, [inProject('mounted.ts', mounted)], library.project)).at(-1)).toBe(
      '401 200 200',
    )
  })

  it('compiles there', () => {
    expect(compile({ 'mounted.ts': mounted }, { skipLibCheck: true })).toEqual({})
  })
})

describe('reflexarc/client', () => {
  it('asks over fetch alone', () => {
    expect(lines(mustRun(process.execPath, [inProject('asking.ts', ASKING)], library.project)).at(-1)).toBe(
      'a NOT_FOUND',
    )
  })
})

describe('reflexarc/bench', () => {
  const quick = '--rounds 1 --seconds 0.01 --rate 50000 --listen none --json'
  it('measures in a program, by processes that it finds beside itself', () => {
    const printed = mustRun(process.execPath, [inProject('measured.ts', MEASURED)], library.project)
    expect(printed).toMatch(/^loop generated from the rule \(limit\) +[\d.]+ M /m)
  })

  it('measures by the command line', () => {
    const files = 'node_modules/reflexarc/fixtures'
    const command = `bench ${files}/rules/overheating.json --messages ${files}/recordings/boiler.csv ${quick}`
    const printed = mustRun('bash', ['-c', `node_modules/.bin/reflexarc ${command}`], library.project)
    expect(JSON.parse(printed)).toMatchObject({ format: 1, messages: 1440, firings: 5 })
  })
})

describe('reflexarc/testing', () => {
  const check = `
import { builtins } from 'reflexarc/plugins'
import { checkRule, coolDownRespected, readings, type CheckOptions } from 'reflexarc/testing'
import type { Rule } from 'reflexarc'

const rule: Rule = {
  sensors: [{ label: 'hot', name: 'streamingDataSensor', resource: 'r', properties: { parameter: 't', threshold: 90 } }],
  actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 60 }],
}
const options: CheckOptions = { plugs: builtins, resource: 'r', metrics: { t: readings(0, 100) }, seed: 1 }
await checkRule(rule, coolDownRespected(), options)
await checkRule(rule, (run) => run.firings().length === 0, { ...options, writeTo: 'failing/case' }).catch((e: Error) =>
  console.log(e.message),
)
`

  it('asks for fast-check, which only it needs, by name', () => {
    const { code, stderr } = run(process.execPath, [inProject('check.ts', check)], library.project)
    expect(code).toBe(1)
    expect(stderr).toContain("Cannot find package 'fast-check'")
  })

  it('works with it, compiles with the strictest settings, and writes a case that the command line replays', () => {
    for (const name of ['fast-check', 'pure-rand'])
      cpSync(tool(name), join(library.project, 'node_modules', name), { recursive: true })
    const printed = mustRun(process.execPath, [inProject('check.ts', check)], library.project)
    expect(compile({ 'check.ts': check })).toEqual({})
    const command = /^replay: (reflexarc .*)$/m.exec(printed)?.[1] ?? ''
    expect(mustRun('bash', ['-c', `node_modules/.bin/${command}`], library.project)).toMatch(/ 1 firing,/)
  })
})
