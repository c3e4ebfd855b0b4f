/**
 * The places and types of what commands print with `--json`, as a file; `vitest -u` writes it. Not here: `bench`, `prove`
 * and `mutate`, which print the exported types BenchResult, Proof and Mutation of as many cases as time allows, and
 * `cluster`, which needs a PostgreSQL.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Workspace } from '../cli/run-cli.ts'
import { listeningHost } from '../host/listening-host.ts'
import { root } from '../support/repository.ts'
import { parseOutput, shapeOf } from './json-shape.ts'

const fixture = (path: string) => join(root, 'fixtures', path)
const rule = fixture('rules/overheating.json')
const recorded = ['--messages', fixture('recordings/boiler.csv'), '--resource', 'boiler-1']
const booster = fixture('models/machine-anomaly/model.bst')
const WRONG = { sensors: [{ label: 'a', name: 'inRnge', properties: { min: 1 }, resource: '$' }] }
const SERIES = 'resource,timestamp,level\npump-1,0,5\n'

/** Commands without and with a host, in their order. */
const ALONE: readonly (readonly string[])[] = [
  ['check', rule, 'wrong.json'],
  ['simulate', rule, ...recorded, '--until', '2025-01-15T12:00:00Z'],
  ['sweep', rule, '--set', 'temperature.threshold=85..90/5', ...recorded],
  ['diff', rule, fixture('rules/overheating-later.json'), ...recorded],
  ['next', '0 30 2 * * ?', '--zone', 'Europe/Brussels', '--from', '2026-03-28', '-n', '3', '--changes'],
  ['next', 'FREQ=HOURLY', '--from', '2026-03-28', '-n', '3', '--down', '2026-03-28T01:00Z..2026-03-28T03:00Z'],
  ['plugs', 'windowStats'],
  ['functions', 'init', 'too-warm'],
]
const ASKING: readonly (readonly string[])[] = [
  ['functions', 'deploy', 'too-warm'],
  ['functions', 'list'],
  ['functions', 'logs', 'too-warm'],
  ['functions', 'secrets', 'put', 'WEATHER_TOKEN', 'secret.txt'],
  ['functions', 'secrets', 'list'],
  ['functions', 'secrets', 'delete', 'WEATHER_TOKEN'],
  ['models', 'add', 'heat', booster],
  ['models', 'predict', 'heat', '[[92.5], [31]]'],
  ['models', 'list'],
  ['import', 'level.csv'],
]
const STOPPED: readonly (readonly string[])[] = [['keys', 'add'], ['keys', 'list'], ['doctor']]

const lines: string[] = []
const place = new Workspace({ 'wrong.json': WRONG, 'level.csv': SERIES, 'secret.txt': 's' })

async function run(commands: readonly (readonly string[])[], env: Record<string, string> = {}): Promise<void> {
  for (const command of commands) {
    const { code, stdout, stderr } = await place.cli([...command, '--json'], { env })
    const named = command.map((word) => word.replace(`${root}/`, '')).join(' ')
    lines.push(`${named}: ${code}`, ...shapeOf(parseOutput(stdout)).map((line) => `  ${line}`))
    if (stdout === '') lines.push(`  nothing: ${stderr.split('\n', 1)[0]}`)
  }
}

beforeAll(async () => {
  const data = join(place.path, 'data')
  await run(ALONE)
  const { url, stop } = await listeningHost({ store: 'sqlite:', data })
  await run(ASKING, { REFLEXARC_URL: url, REFLEXARC_API_KEY: 'k', REFLEXARC_API_SECRET: 'a-secret' })
  await stop()
  await run(STOPPED, { REFLEXARC_DATA: data })
})
afterAll(() => place[Symbol.dispose]())

it('prints the places and types of the file', async () => {
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/command-line.txt')
})
