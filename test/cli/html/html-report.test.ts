/** Tests the HTML report of runs over recordings. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cases } from '../../support/arbitraries/runs.ts'
import { readText, root } from '../../support/repository.ts'
import { Workspace } from '../run-cli.ts'

const BOILER = ['--messages', join(root, 'fixtures/recordings/boiler.csv'), '--resource', 'boiler-1']
const RULE = JSON.parse(readText('fixtures/rules/overheating.json')) as object
const LATER = JSON.parse(readText('fixtures/rules/overheating-later.json')) as object

it('plots data, limits and firings of a simulation, without scripts or foreign parts', async () => {
  using folder = new Workspace({ 'rule.json': RULE })
  const { code, stdout, stderr } = await folder.cli(['simulate', 'rule.json', ...BOILER, '--html', 'r.html'])
  expect([code, stderr.split('\n').at(-2)]).toEqual([0, 'the report is in r.html'])
  const page = readFileSync(join(folder.path, 'r.html'), 'utf8')
  const fired = /(\d+) firings?/.exec(stdout)?.[1]
  expect(page).toContain('<h1>Boiler overheating</h1>')
  expect(page).toContain('aria-label="temperature of boiler-1"')
  expect(page).toContain('temperature.threshold 90')
  expect(page).toContain('├ data    boiler-1: temperature ')
  expect(page.match(/<tr id="f\d+"/g)).toHaveLength(Number(fired))
  expect(page).not.toMatch(/<script|<link|<img|src=|https?:/)
})

it('shows which firings of two rules are equal', async () => {
  using folder = new Workspace({ 'old.json': RULE, 'new.json': LATER })
  const { stdout } = await folder.cli(['diff', 'old.json', 'new.json', ...BOILER, '--json', '--html', 'r.html'])
  const { nodes } = JSON.parse(stdout) as {
    nodes: readonly Record<'equal' | 'moved' | 'onlyOld' | 'onlyNew', number>[]
  }
  const page = readFileSync(join(folder.path, 'r.html'), 'utf8')
  const sum = (name: 'equal' | 'moved' | 'onlyOld' | 'onlyNew') => nodes.reduce((all, node) => all + node[name], 0)
  const count = (text: string) => page.split(text).length - 1
  expect({
    equal: count('"tag">both<'),
    moved: count(' in new</span>'),
    onlyOld: count('"tag old">only old<'),
    onlyNew: count('"tag new">only new<'),
  }).toEqual({ equal: sum('equal'), moved: sum('moved'), onlyOld: sum('onlyOld'), onlyNew: sum('onlyNew') })
  expect(page).toContain('class="limit old"')
  expect(page).toContain('old: old.json')
})

it('lists the runs of a sweep and plots each value', async () => {
  using folder = new Workspace({ 'rule.json': RULE })
  const set = ['--set', 'temperature.threshold=85,90,95']
  await folder.cli(['sweep', 'rule.json', ...BOILER, ...set, '--html', 'r.html'])
  const page = readFileSync(join(folder.path, 'r.html'), 'utf8')
  expect(page.match(/class="bar"/g)).toHaveLength(3)
  expect(page).toContain('temperature.threshold 85')
  expect(page).toContain('temperature.threshold 95')
})

it('escapes all texts and stays small', async () => {
  const bad = '<script>alert("1")</script>'
  const lines = Array.from({ length: cases(100_000) }, (_, i) => {
    return JSON.stringify({ resource: bad, timestamp: 1_700_000_000_000 + i * 1_000, [bad]: i % 3, '"&x': i })
  })
  const rule = {
    sensors: [{ label: bad, name: 'streamingDataSensor', resource: '$', properties: { parameter: bad, threshold: 1 } }],
    actuators: [{ label: 'log', name: 'log', properties: { message: bad } }],
    triggers: [{ sourceLabel: bad, destinationLabel: 'log', begins: ['Above'] }],
    task: { name: bad },
  }
  using folder = new Workspace({ 'rule.json': rule, 'm.ndjson': lines.join('\n') })
  const { code } = await folder.cli([
    'simulate',
    'rule.json',
    '--messages',
    'm.ndjson',
    '--resource',
    bad,
    '--html',
    'r.html',
  ])
  expect(code).toBe(0)
  const page = readFileSync(join(folder.path, 'r.html'), 'utf8')
  expect(page).not.toContain('<script')
  expect(page).toContain('&lt;script&gt;')
  expect(page).toContain('later firings are not listed')
  expect(statSync(join(folder.path, 'r.html')).size).toBeLessThan(2_500_000)
})

it('reports a file that cannot be written', async () => {
  using folder = new Workspace({ 'rule.json': RULE })
  const { code, stderr } = await folder.cli(['simulate', 'rule.json', ...BOILER, '--html', 'none/r.html'])
  expect(code).toBe(1)
  expect(stderr).toContain('--html: none/r.html cannot be written')
})
