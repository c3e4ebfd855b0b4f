import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DOORS, findCycles, impurities, localTargets, machineUses, wallBreaks, wallOf } from './support/import-walls.ts'
import { filesUnder, ignoredNames, readText, root } from './support/repository.ts'
import { scanSource } from './support/scan-source.ts'

const TOP_LEVEL = new Set(
  'package.json package-lock.json tsconfig.json vitest.config.ts README.md CONTRIBUTING.md CHANGELOG.md LICENSE docs src plugins fixtures bench test'.split(
    ' ',
  ),
)
/** below this the listing itself is broken */
const FEWEST_FILES = 20
const LINE_LIMIT = 600

const files = ['.ts', '.tsx']
  .flatMap((ending) => filesUnder(['src', 'plugins'], ending))
  .map((path) => {
    const source = readText(path)
    return { path, source, scan: scanSource(source) }
  })
const paths = new Set(files.map((file) => file.path))

/** Where clocks, timers, turns, chance and ids come from `src/platform` or from whoever makes the part. */
const OF_A_HOST = /^src\/(?:services|host|cli|jobs)\//
/** Files, and folders, that may ask the machine themselves, with the reason. */
const ASK_THE_MACHINE: Readonly<Record<string, string>> = {
  'src/cli/': 'commands of a person at a terminal, who waits by the clock of the wall',
  'src/host/auth/': 'secrets and salts, which nobody may foresee',
  'src/host/data-folder.ts': 'the key of the tokens, which nobody may foresee',
  'src/host/causation-header.ts': 'the name of a header, which nobody may foresee',
  'src/host/wiring/make-functions.ts': 'secrets of tenants, and processes that keep their own time',
  'src/host/wiring/make-models.ts': 'models run by processes that keep their own time, and ids of their uploads',
  'src/host/load-plugs.ts': 'the clock of plugs in commands of a person at a terminal',
  'src/host/service-folder.ts': 'a folder for files of processes, which nobody else has',
  'src/host/wiring/make-webscripts.ts': 'calls of processes that keep their own time',
  'src/host/host-clock.ts': 'the clock that a host goes by is made of those of the machine',
  'src/host/timers.ts': 'the default of a port that whoever makes a host can give',
  'src/host/work/work-thread.ts': 'a thread of its own, which no simulated clock governs',
  'src/host/transport/node-transport.ts': 'requests over a socket, which nothing simulates',
  'src/host/transport/remote-models.ts': 'the same, for servers of models',
  'src/services/connectors/sparkplug/sparkplug-connector.ts':
    'times of messages to devices, which no simulated broker has',
  'src/services/rules/client.ts': 'runs where no host is',
  'src/services/shared/http/text-body.ts': 'limits of bodies over a socket, which nothing simulates',
  'src/services/webscripts/admission.ts': 'a hash that no secret has, which nobody may foresee',
}

describe('the source', () => {
  it(`is seen: at least ${FEWEST_FILES} files, kernel, core and plugins among them`, () => {
    expect(files.length).toBeGreaterThanOrEqual(FEWEST_FILES)
    for (const folder of ['src/kernel/', 'src/core/', 'plugins/']) {
      expect(files.filter((file) => file.path.startsWith(folder)).length, folder).toBeGreaterThan(0)
    }
    expect(files.reduce((sum, file) => sum + file.scan.imports.length, 0)).toBeGreaterThan(files.length / 2)
  })

  it('lies in folders that the table of walls covers', () => {
    expect(files.map((file) => file.path).filter((path) => wallOf(path) === undefined)).toEqual([])
  })

  it('imports only what the table of walls allows', () => {
    expect(files.flatMap((file) => wallBreaks(file.path, file.scan))).toEqual([])
  })

  it('imports files that exist, by their full names', () => {
    const lost = files.flatMap((file) =>
      localTargets(file.path, file.scan)
        .filter((target) => !paths.has(target) && !target.endsWith('.json'))
        .map((target) => `${file.path}: ${target}`),
    )
    expect(lost).toEqual([])
  })

  it('has no door that no room uses', () => {
    const used = new Set(files.flatMap(({ scan }) => scan.imports.map(({ specifier }) => specifier)))
    expect([...DOORS.keys()].filter((door) => !door.includes('*') && !used.has(door))).toEqual([])
  })

  it('has no import cycles, types included', () => {
    const graph = new Map(files.map((file) => [file.path, localTargets(file.path, file.scan)]))
    expect(findCycles(graph).map((cycle) => cycle.join(' -> '))).toEqual([])
  })

  it('takes clock, timers and randomness from outside where it is pure', () => {
    const found = files
      .filter((file) => wallOf(file.path)?.wall.pure === true)
      .flatMap((file) => impurities(file.scan).map((use) => `${file.path}, ${use}`))
    expect(found).toEqual([])
  })

  it('asks the machine for time, turns, chance and ids in one place, so that a host can be simulated', () => {
    const asking = files
      .filter((file) => OF_A_HOST.test(file.path))
      .flatMap((file) => machineUses(file.scan).map((use) => `${file.path}, ${use}`))
    const reasonOf = (use: string) => Object.keys(ASK_THE_MACHINE).find((path) => use.startsWith(path))
    expect(asking.filter((use) => reasonOf(use) === undefined)).toEqual([])
    expect(Object.keys(ASK_THE_MACHINE).filter((path) => !asking.some((use) => use.startsWith(path)))).toEqual([])
  })

  it('waits before it takes the `send` of a reply: a request that was refused meanwhile has another one', () => {
    expect(files.filter(({ source }) => waitsInSend(source)).map(({ path }) => path)).toEqual([])
    expect(waitsInSend('return reply.code(202).send(shown(await api.create(body)))')).toBe(true)
    expect(waitsInSend('void reply.send(value)\n  await api.remove(value)')).toBe(false)
  })

  it('has no default exports and no `export *`', () => {
    const found = files.filter((file) => /\bexport\s+(?:default\b|\*)|\bas default\b/.test(file.scan.code))
    expect(found.map((file) => file.path)).toEqual([])
  })

  it(`has no file above ${LINE_LIMIT} lines`, () => {
    const long = files
      .map((file) => ({ path: file.path, lines: file.source.trimEnd().split('\n').length }))
      .filter((file) => file.lines > LINE_LIMIT)
    expect(long).toEqual([])
  })

  it('has kebab-case names, and no utils folder or types.ts drawer', () => {
    const odd = [...paths].filter((path) => !/^(?:[a-z0-9]+(?:-[a-z0-9]+)*[/.])+tsx?$/.test(path))
    expect(odd).toEqual([])
    expect(
      [...paths].filter((path) => /(?:^|\/)(?:utils?|helpers?|common)(?:\/|\.ts$)|(?:^|\/)types\.ts$/.test(path)),
    ).toEqual([])
  })
})

describe('the checkout', () => {
  it('returns a reason wherever it silences lint or, in a test, the compiler', () => {
    const found = filesUnder(['src', 'plugins', 'test', 'bench'], '.ts')
      .filter((path) => path !== 'test/boundaries.test.ts')
      .flatMap((path) => silenced(readText(path), path.startsWith('test/')).map((line) => `${path}:${line}`))
    expect(found).toEqual([])
  })

  it.each([
    ['// oxlint-disable-next-line no-console', true, 1],
    ['// oxlint-disable-next-line no-console -- the timeline is what it prints', false, 0],
    ['// @ts-expect-error absent is not a number', true, 0],
    ['// @ts-expect-error absent is not a number', false, 1],
    ['// @ts-expect-error', true, 1],
    ['// @ts-ignore because', true, 1],
    ['const a = 1', false, 0],
  ])('%s, in a test: %s, counts %i', (line, inTest, expected) => {
    expect(silenced(line, inTest)).toHaveLength(expected)
  })

  it('has no entries at the top but the known ones and dotfiles', () => {
    const ignored = ignoredNames()
    const odd = readdirSync(root).filter((name) => !name.startsWith('.') && !TOP_LEVEL.has(name) && !ignored.has(name))
    expect(odd.filter((name) => !/\.(?:tgz|tsbuildinfo)$/.test(name))).toEqual([])
  })
})

/** Numbers of the lines that switch off a check without a reason. A test may say which type error it expects. */
function silenced(source: string, inTest: boolean): readonly number[] {
  return source.split('\n').flatMap((line, index) => {
    const lint = /(?:ox|es)lint-disable/.test(line) && !/(?:ox|es)lint-disable\S* \S+.* -- \S/.test(line)
    const compiler = /\/[/*]\s*@ts-/.test(line) && !(inTest && /@ts-expect-error \S/.test(line))
    return lint || compiler ? [index + 1] : []
  })
}

/** Whether what `send` is called with is waited for in its parentheses. */
function waitsInSend(source: string): boolean {
  return source
    .split('.send(')
    .slice(1)
    .some((rest) => {
      let open = 1
      const end = rest.split('').findIndex((sign) => (open += sign === '(' ? 1 : sign === ')' ? -1 : 0) === 0)
      return /\bawait\b/.test(rest.slice(0, end))
    })
}
