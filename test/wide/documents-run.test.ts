/** Tests the programs, commands and tutorials in the documents: they compile, run, and print what the page shows. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtCode } from '../support/built-code.ts'
import { fencedBlocks, type Block } from '../support/read-markdown.ts'
import { filesUnder, readText, root } from '../support/repository.ts'
import { mustRun, run } from '../support/run-command.ts'

const GUIDES = ['README.md', ...filesUnder(['docs'], '.md')]
/** Pages, by default tutorials, whose shell blocks form one script; each is run by a separate test. */
const WALKS = [
  'first-task',
  'device-to-alarm',
  'first-webscript',
  'data-and-alarms',
  'queries',
  'converters',
  'objects',
  'rehearse',
  'how-to/change-a-running-rule',
  'how-to/alarms',
].map(pageOf)

interface Snippet extends Block {
  readonly page: string
}

const snippets = GUIDES.flatMap((page) => fencedBlocks(readText(page)).map((block): Snippet => ({ ...block, page })))
const walked = new Set(WALKS.flatMap((page) => shellOf(page)))
const code = snippets.filter(({ language, notRun }) => ['ts', 'js'].includes(language) && notRun === undefined)
const shell = snippets.filter(({ language, notRun }) => language === 'sh' && notRun === undefined)
const commands = shell.filter(({ text }) => !walked.has(text))

/**
 * Folder with a package `reflexarc`, whose types are the sources and whose code was built from them, so that blocks
 * import it like users do.
 */
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reflexarc-docs-'))
  for (const name of ['src', 'plugins', 'fixtures', 'node_modules']) symlinkSync(join(root, name), join(folder, name))
  symlinkSync(builtCode('.'), join(folder, 'dist'))
  const { imports } = JSON.parse(readText('package.json')) as { imports: unknown }
  const exports = {
    '.': { types: './src/index.ts', default: './dist/index.js' },
    './plugins': { types: './plugins/index.ts', default: './dist/plugins.js' },
    './rules': { types: './src/rules/index.ts', default: './dist/rules.js' },
    './client': { types: './src/client.ts', default: './dist/client.js' },
    './host': { types: './src/host/index.ts', default: './dist/host.js' },
    './testing': { types: './src/testing/index.ts', default: './dist/testing.js' },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'reflexarc', type: 'module', imports, exports }))
  for (const block of code) writeFileSync(join(folder, fileOf(block)), `${block.text}\nexport {}\n`)
  const extra = { noEmit: true, noUnusedLocals: false, noUnusedParameters: false, allowJs: true, checkJs: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions: extra, include: ['snippet-*'] }),
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fileOf({ page, line, language }: Snippet): string {
  return `snippet-${page.replaceAll('/', '-').replace(/\.md$/, '')}-${line}.${language}`
}

function pageOf(tutorial: string): string {
  return tutorial.includes('/') ? `docs/${tutorial}.md` : `docs/tutorials/${tutorial}.md`
}

function shellOf(page: string): readonly string[] {
  return fencedBlocks(readText(page)).flatMap(({ language, text }) => (language === 'sh' ? [text] : []))
}

/** Runs commands as written in a document. */
function runCommand(text: string): string {
  const ours = text.replaceAll(/\bnpx reflexarc\b/g, `'${process.execPath}' '${builtCode('cli.js')}'`)
  return mustRun('bash', ['-euo', 'pipefail', '-c', ours], root)
}

/** Returns the blocks that a document shows as this block's output. */
function printedAfter(snippet: Snippet): readonly string[] {
  const next = snippets[snippets.indexOf(snippet) + 1]
  return next?.page === snippet.page && next.printedBy === '' ? [next.text] : []
}

/** Expects each shown line to have been printed, in order; other lines may come in between. */
function expectPrinted(shown: string, printed: string): void {
  let rest = printed.split('\n').map((line) => line.trimEnd())
  for (const line of shown.split('\n').map((one) => one.trimEnd())) {
    expect(rest, `not printed, or not there: ${line}`).toContain(line)
    rest = rest.slice(rest.indexOf(line) + 1)
  }
}

describe('programs and commands', () => {
  it('are there', () => {
    expect(code.length).toBeGreaterThan(5)
    expect(commands.length).toBeGreaterThan(5)
    expect(walked.size).toBeGreaterThan(5)
  })

  it('are distinguished: what is in a shell block runs, belongs to a walk, or says why it does not run', () => {
    const odd = commands.filter(({ text }) => !/^npx reflexarc(?=\s)/.test(text.trim()))
    expect(odd.map(({ page, line, text }) => `${page}:${line}: ${text}`)).toEqual([])
  })

  it('compile as strictly as ours', () => {
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { stdout } = run(process.execPath, [compiler, '-p', folder], folder)
    expect(stdout.split('\n').filter((line) => /^(?:snippet-|error)/.test(line))).toEqual([])
  })

  it.each(code.map((block) => [block.page, block.line, block] as const))('%s:%i runs', (_page, _line, block) => {
    const printed = mustRun(process.execPath, [join(folder, fileOf(block))], folder)
    for (const shown of printedAfter(block)) expectPrinted(shown, printed)
  })

  it.each(commands.map((block) => [block.page, block.line, block] as const))(
    '%s:%i ends well',
    (_page, _line, block) => {
      const printed = runCommand(block.text)
      for (const shown of printedAfter(block)) expectPrinted(shown, printed)
    },
  )

  it.each(
    snippets.flatMap(({ page, line, text, printedBy }) => (printedBy ? [[page, line, text, printedBy] as const] : [])),
  )('%s:%i shows what a command prints', (_page, _line, shown, command) => expectPrinted(shown, runCommand(command)))
})

/** Finds a free port below the range from which the system assigns ports. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const probe = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => probe.close(resolve))
    return port
  }
}

/**
 * Runs a tutorial's commands in one shell, with free ports instead of 8090 and 18830, and returns the JSON lines that
 * they print.
 */
async function walk(tutorial: string, rewrite = (script: string) => script): Promise<readonly unknown[]> {
  const printed = await walkText(tutorial, rewrite)
  return printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): unknown => JSON.parse(line))
}

/** Like `walk`, with all that the commands print. */
async function walkText(tutorial: string, rewrite = (script: string) => script): Promise<string> {
  const [port, mqtt] = [String(await freePort()), String(await freePort())]
  const blocks = shellOf(pageOf(tutorial))
  expect(blocks.length).toBeGreaterThan(1)
  const waiting = /curl -sw "\\n" --retry 30 --retry-connrefused --retry-delay 1 (\S+)/g
  // fails when the host started last has ended, which would otherwise never answer
  const untilUp = String.raw`until curl -sw "\n" $1; do kill -0 $! || exit 9; sleep 0.1; done`
  // puts temporary files into the folder, which is removed afterwards
  const script = [`export TMPDIR='${folder}'`, ...blocks].join('\n').replaceAll(waiting, untilUp)
  const moved = rewrite(script).replaceAll(/\b(?:18830|8090)\b/g, (fixed) => (fixed === '8090' ? port : mqtt))
  return mustRun('bash', ['-uc', moved.replaceAll('src/cli/main.ts', `'${builtCode('cli.js')}'`)], folder)
}

describe('the tutorials', () => {
  it('keep clear of the ports of npm start', () => {
    const taken = WALKS.filter((page) => shellOf(page).some((text) => /\b(?:8080|1883)\b/.test(text)))
    expect(taken).toEqual([])
  })

  it('rehearse a rule on stored data, beside another version and with other thresholds', async () => {
    const printed = await walkText('rehearse')
    for (const part of [
      '"summary":"1 of 2 resources had data"',
      '"text":"85 degrees"',
      '"counts":{"equal":0,"added":3,"removed":0,"moved":0}',
      '"values":{"/sensors/0/properties/enter":90},"firings":0',
      'aria-label="temperature of boiler-1"',
      '2 of 2 resources had data',
    ]) {
      // printed by the grep of the page
      expect(printed.split('\n')).toContain(part)
    }
    // of the comparison, and of the change of a template
    expect(printed.split('\n').filter((line) => line.startsWith('"counts":{"equal":0,"added":3'))).toHaveLength(2)
  })

  it('take a changed threshold from a file over a draft, a rehearsal and a shadow to all tasks, and back', async () => {
    const printed = (await walkText('how-to/change-a-running-rule')).split('\n')
    const parts = ['promoted', '"version":2', '"status":"rolledBack"', '"version":1', '    hot loses state, memory']
    for (const part of parts) expect(printed).toContain(part)
    // of the rehearsal and of the shadow
    const counts = '"counts":{"equal":1,"added":1,"removed":0,"moved":0}'
    expect(printed.filter((line) => line === counts)).toHaveLength(2)
    const row = /^alarm +1 +1 +0 +0$/
    expect(printed.some((line) => row.test(line))).toBe(true)
  })

  it('let an alarm with two levels rise and fall, and take it through its life cycle', async () => {
    const printed = (await walkText('how-to/alarms')).split('\n')
    const parts = [
      '"severity":"MINOR","count":1',
      '"severity":"CRITICAL","count":2',
      '"severity":"MINOR","count":3',
      '"lifecycle":"acknowledged"',
      '"lifecycle":"acknowledged","suppression":"shelved"',
      '"total":3',
      '"suppression":"none"',
      '"status":"CLEARED","lifecycle":"normal"',
      '"alarms":1,"held":0',
    ]
    expect(printed.filter((line) => parts.includes(line))).toEqual(parts)
  })

  it('take a rule through a crash to the same state', async () => {
    const answers = await walk('first-task')
    const explained = {
      node: 'alarm',
      fired: { why: { sensors: [{ node: 'hot', state: 'Above' }] } },
      triggers: [{ blocked: [{ reason: 'cool-down' }] }],
    }
    const up = { status: 'ok' }
    const hot = { name: 'hot', mostLikelyState: { state: 'Above' }, rawData: { data: 93 } }
    const sensor = { node: 'hot', state: { value: 'Above' } }
    expect(answers).toMatchObject([up, { taken: true }, explained, sensor, up, hot, explained])
    const [, , before, , , , after] = answers as { fired: unknown; triggers: unknown }[]
    expect([after?.fired, after?.triggers]).toEqual([before?.fired, before?.triggers])
  })

  it('take samples over a stored query to a rule', async () => {
    const answers = await walk('queries')
    const [, , hourly, stored, executed, found] = answers as readonly Readonly<Record<string, unknown>>[]
    expect(hourly).toMatchObject({
      data: [
        {
          data: [
            [1717992000000, 65],
            [1717995600000, 65],
            [1717999200000, 65],
            [1718002800000, 73.33333333333333],
            [1718006400000, 81.66666666666667],
            [1718010000000, 90],
          ],
        },
      ],
    })
    expect(stored).toMatchObject({ name: 'boiler-means', messages: [] })
    expect(executed).toMatchObject({ query: { interpolation: { method: 'pad' } }, data: [{ data_axis: 'row' }] })
    expect(found).toMatchObject({ total: 1 })
    expect(answers.at(-1)).toEqual({ messages: [] })
  })

  it('take the JSON of a device over a converter to an alarm, and lose nothing', async () => {
    const answers = await walk('converters')
    const alarms = answers.filter((one) => typeof one === 'object' && one !== null && 'alarms' in one)
    expect(alarms.at(-1)).toMatchObject({ total: 1, alarms: [{ type: 'TOO_HOT', source: { id: 'boiler-1' } }] })
    expect(answers.at(-2)).toMatchObject({ total: 1, values: [{ topic: 'gw/boiler-1/up', payload: '{ "id": 7 }' }] })
    expect(answers.at(-1)).toMatchObject({ forwarded: [], failed: [{}] })
  })

  it('take the JSON of a device over a converter and a template to an alarm', async () => {
    const answers = await walk('device-to-alarm')
    const alarm = { type: 'TOO_HOT', source: { id: 'boiler-1' }, text: 'boiler-1 is too hot' }
    expect(answers.at(-1)).toMatchObject({ total: 1, alarms: [alarm] })
  })

  it('deploy a public webscript and one that requires its secret', async () => {
    const answers = await walk('first-webscript')
    const closed = { error: expect.stringContaining('private') as unknown }
    expect(answers).toEqual([{ status: 'ok' }, { hello: 'you' }, { area: 9 }, expect.objectContaining(closed)])
  })

  it('upload by a signed URL, move and delete an object', async () => {
    const answers = await walk('objects')
    expect(answers.slice(1)).toMatchObject([
      { name: 'reports/may.csv', size: 8, content_type: 'text/csv' },
      { objects: [{ name: 'reports/may.csv' }] },
      { name: 'plans/', is_dir: true },
      { name: 'plans/may.csv' },
      { removed_count: 1 },
    ])
  })

  it('take a resource type over three protocols to an alarm that explains itself', async () => {
    const answers = await walk('data-and-alarms', (script) => script.replace('date +%s) - 60)', 'date +%s) - 3600)'))
    expect(answers.at(-1)).toMatchObject({ total: 1, values: [{ id: 'boiler-1' }] })
    // for one hour or two
    const { series } = answers.at(-2) as { series: readonly (readonly [number, number, number, number])[] }
    const count = series.reduce((sum, [, times]) => sum + times, 0)
    const mean = series.reduce((sum, [, times, ofHour]) => sum + times * ofHour, 0) / count
    expect([count, mean, Math.max(...series.map(([, , , max]) => max))]).toEqual([3, 85, 95])
    expect(answers.at(-3)).toMatchObject({
      cause: { node: 'alarm', trigger: 'hot' },
      explanation: { fired: { why: { sensors: [{ node: 'hot', state: 'Above' }] } } },
    })
  })
})
