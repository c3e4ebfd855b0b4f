/** The documents say what is so: their code compiles and runs, their links lead somewhere, their tables are the code's. */
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtins } from '../plugins/index.ts'
import { ISSUE_TYPES } from '../src/core/rule/check/issue-types.ts'
import { OPTIONS, type Option } from '../src/host/config.ts'
import { ERRORS } from '../src/kernel/errors.ts'
import { plugTable } from './support/plug-table.ts'
import { fencedBlocks, markedPart, relativeLinks } from './support/read-markdown.ts'
import { readText, root } from './support/repository.ts'
import { mustRun, run } from './support/run-command.ts'

const readme = readText('README.md')
const blocks = fencedBlocks(readme).filter((block) => block.notRun === undefined)
const code = blocks.filter((block) => ['ts', 'js'].includes(block.language))
const commands = blocks.filter(
  (block) => block.language === 'sh' && /^(?:npx reflexarc|node src\/host\/cli\.ts)(?=\s|$)/.test(block.text.trim()),
)

/** A package named reflexarc whose entries are the sources, so that blocks import as a user does and no build is needed. */
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reflexarc-docs-'))
  for (const name of ['src', 'plugins', 'fixtures', 'node_modules']) symlinkSync(join(root, name), join(folder, name))
  const exports = {
    '.': './src/index.ts',
    './plugins': './plugins/index.ts',
    './host': './src/host/index.ts',
    './testing': './src/testing/index.ts',
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'reflexarc', type: 'module', exports }))
  const names = code.map((block) => `line-${block.line}.${block.language}`)
  code.forEach((block, index) => writeFileSync(join(folder, names[index] ?? ''), `${block.text}\nexport {}\n`))
  const extra = { noEmit: true, noUnusedLocals: false, noUnusedParameters: false, allowJs: true, checkJs: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions: extra, include: ['line-*'] }),
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** What the commands of a section print as JSON, line by line, when they run in one shell. */
function walked(title: string, rewrite: (script: string) => string): readonly unknown[] {
  const section = readme.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? ''
  const walk = fencedBlocks(section).map(({ text }) => text)
  expect(walk.length).toBeGreaterThan(2)
  // What the walk keeps goes away with the folder.
  const script = [`export TMPDIR='${folder}'`, ...walk].join('\n')
  return mustRun('bash', ['-uc', rewrite(script)], folder)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): unknown => JSON.parse(line))
}

describe('README.md', () => {
  it('has blocks of code', () => {
    expect(code.length).toBeGreaterThan(0)
  })

  it('has TypeScript that compiles as strictly as ours', () => {
    const { stdout } = run(
      process.execPath,
      [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder],
      folder,
    )
    expect(stdout.split('\n').filter((line) => /^(?:line-|error)/.test(line))).toEqual([])
  })

  it.each(code.map((block) => [block.line, block.language] as const))(
    'has code at line %i that runs',
    (line, language) => {
      mustRun(process.execPath, [join(folder, `line-${line}.${language}`)], folder)
    },
  )

  it.each(commands.map((block) => [block.line, block.text] as const))(
    'has a command at line %i that ends well',
    (_line, text) => {
      const fromSource = text.replace(/\bnpx reflexarc\b/g, `'${process.execPath}' src/host/cli.ts`)
      mustRun('bash', ['-euo', 'pipefail', '-c', fromSource], root)
    },
  )

  it('has a walk with curl that goes from a rule over a crash to the same state', async () => {
    const port = String(await freePort())
    const answers = walked('With curl', (script) =>
      script
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
        .replaceAll('cli.ts serve', `cli.ts serve --port ${port}`),
    )
    const explained = {
      node: 'alarm',
      fired: { why: { sensors: [{ node: 'hot', state: 'Above' }] } },
      triggers: [{ blocked: [{ reason: 'cool-down' }] }],
    }
    const up = { status: 'ok' }
    const hot = { name: 'hot', mostLikelyState: { state: 'Above' }, rawData: { data: 93 } }
    expect(answers).toMatchObject([up, { taken: true }, explained, up, hot, explained])
    const [, , before, , , after] = answers as { fired: unknown; triggers: unknown }[]
    expect([after?.fired, after?.triggers]).toEqual([before?.fired, before?.triggers])
  }, 120_000)

  it('has a walk from a type over three protocols to an alarm that says why', async () => {
    const [port, mqtt] = [String(await freePort()), String(await freePort())]
    const answers = walked('Things, data and alarms', (script) =>
      script
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
        .replaceAll('cli.ts serve --mqtt 1883', `cli.ts serve --port ${port} --mqtt ${mqtt}`)
        .replaceAll('mqtt pub', `mqtt pub -h 127.0.0.1 -p ${mqtt}`),
    )
    const [count, mean, max] = [3, 85, 95]
    expect(answers.at(-1)).toMatchObject({ total: 1, values: [{ id: 'boiler-1' }] })
    expect(answers.at(-2)).toMatchObject({ series: [[expect.any(Number), count, mean, max]] })
    expect(answers.at(-3)).toMatchObject({
      cause: { node: 'alarm', trigger: 'hot' },
      explanation: { fired: { why: { sensors: [{ node: 'hot', state: 'Above' }] } } },
    })
  }, 120_000)

  it('has the table of errors that the code has', () => {
    const rows = Object.entries(ERRORS).map(([name, { status, meaning }]) => `| \`${name}\` | ${status} | ${meaning} |`)
    const table = ['| code | HTTP | meaning |', '|---|---|---|', ...rows].join('\n')
    expect(markedPart(readme, 'errors'), `between the marks errors:start and errors:end belongs:\n\n${table}\n`).toBe(
      table,
    )
  })

  it('has the table of what a check finds that the code has', () => {
    const rows = Object.entries(ISSUE_TYPES).map(([name, about]) => `| \`${name}\` | ${about} |`)
    const table = ['| type | about |', '|---|---|', ...rows].join('\n')
    expect(markedPart(readme, 'issues'), `between the marks issues:start and issues:end belongs:\n\n${table}\n`).toBe(
      table,
    )
  })

  it('has the table of plugs that the code has', () => {
    const table = plugTable(builtins)
    expect(markedPart(readme, 'plugs'), `between the marks plugs:start and plugs:end belongs:\n\n${table}\n`).toBe(
      table,
    )
  })

  it('has the table of options that the host has', () => {
    const options: readonly Option[] = Object.values(OPTIONS)
    const rows = options.map(({ flag, env, value, help, default: usual }) => {
      const shown = value === undefined ? `--${flag}` : `--${flag} <${value}>`
      return `| \`${shown}\` | \`${env}\` | ${usual === undefined ? '' : `\`${usual}\``} | ${help} |`
    })
    const table = ['| option | environment | default | |', '|---|---|---|---|', ...rows].join('\n')
    expect(
      markedPart(readme, 'options'),
      `between the marks options:start and options:end belongs:\n\n${table}\n`,
    ).toBe(table)
  })

  it('names the commands of package.json as they are', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
    const named = [...readme.matchAll(/\bnpm (?:run )?(start|test|(?<=run )[a-z:]+)\b/g)].map((match) => match[1] ?? '')
    expect(named).toEqual(expect.arrayContaining(['start', 'test']))
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })
})

describe.each(['README.md', 'CONTRIBUTING.md'])('%s', (name) => {
  it('links only to files that exist', () => {
    const lost = relativeLinks(readText(name)).filter((target) => !existsSync(join(root, dirname(name), target)))
    expect(lost).toEqual([])
  })
})

describe('CONTRIBUTING.md', () => {
  it('names only paths that exist, unless they have a <part> to fill in', () => {
    const named = [...readText('CONTRIBUTING.md').matchAll(/`((?:src|plugins|test|fixtures|bench|\.ci)\/[^`\s]*)`/g)]
    const paths = named.map((match) => match[1] ?? '').filter((path) => !/[<*]/.test(path))
    expect(paths.length).toBeGreaterThan(5)
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})
