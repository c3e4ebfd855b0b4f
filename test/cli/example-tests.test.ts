/** Tests `reflexarc test`: examples of rules hold, or the output states what differs and why. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { plain, type Terminal } from '../../src/cli/terminal.ts'
import { runTests } from '../../src/cli/test.ts'
import { cli, Workspace } from './run-cli.ts'

const rule = {
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
  ],
  actuators: [
    { label: 'raise', name: 'createAlarm', properties: { type: 'HOT', severity: 'MAJOR', text: 'hot' } },
    { label: 'clear', name: 'clearAlarm', properties: { type: 'HOT' } },
  ],
  triggers: [
    { sourceLabel: 'hot', destinationLabel: 'raise', stateChangeTrigger: { stateFrom: '*', stateTo: 'Above' } },
    { sourceLabel: 'hot', destinationLabel: 'clear', stateChangeTrigger: { stateFrom: 'Above', stateTo: 'Below' } },
  ],
  task: { type: 'reactive' },
}
const messages = [
  { at: '0s', t: 80 },
  { at: '1m', t: 95 },
  { at: '2m', t: 85 },
]
const fired = [
  { node: 'raise', at: '1m' },
  { node: 'clear', at: 'PT2M' },
]

async function run(cases: readonly object[], options: readonly string[] = []) {
  const file = { rule: 'hot.json', resource: 'b', cases }
  using space = new Workspace({ 'hot.json': rule, 'hot.test.json': file })
  const outcome = await space.cli(['test', ...options])
  return { ...outcome, path: space.path }
}

describe('reflexarc test', () => {
  it('runs the examples of the fixtures, which are YAML', async () => {
    const { code, stdout, stderr } = await cli('test fixtures/tests')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/\n3 examples, all hold\n$/)
  })

  it.each([
    ['all firings in order', { firings: fired }],
    ['a firing by its source', { firings: [{ node: 'raise', source: 'hot' }, { node: 'clear' }] }],
    ['a firing at an instant', { firings: [{ node: 'raise', at: '2026-01-05T00:01:00Z' }, { node: 'clear' }] }],
    [
      'alarms with their clearing',
      { alarms: [{ type: 'HOT', severity: 'MAJOR', source: 'b', at: '1m', cleared: '2m' }] },
    ],
    [
      'states at times and at the end',
      {
        states: [
          { node: 'hot', at: '90s', is: 'Above' },
          { node: 'hot', is: 'Below' },
        ],
      },
    ],
  ])('accepts %s', async (_title, expected) => {
    const { code, stdout } = await run([{ name: 'one', messages, expect: expected }])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hot.test.json\n  ok   one\n1 example, all hold\n' })
  })

  it.each([
    [
      'a firing that is missing',
      { firings: [...fired, { node: 'raise', at: '3m' }] },
      'raise did not fire at 2026-01-05T00:03:00Z',
    ],
    [
      'a firing that is not expected',
      { firings: [fired[0]] },
      'clear fired at 2026-01-05T00:02:00Z, which is not expected',
    ],
    [
      'another order',
      { firings: fired.toReversed() },
      'raise fired at 2026-01-05T00:01:00Z, earlier than in the expected order',
    ],
    [
      'a node that must stay silent',
      { silent: ['raise'] },
      'raise fired at 2026-01-05T00:01:00Z, and must stay silent',
    ],
    ['an alarm that is missing', { alarms: [{ type: 'COLD' }] }, 'the alarm COLD was not raised'],
    [
      'an alarm that is not expected',
      { alarms: [] },
      'the alarm MAJOR HOT of b at 2026-01-05T00:01:00Z was raised, which is not expected',
    ],
    [
      'an alarm that is cleared',
      { alarms: [{ type: 'HOT', cleared: false }] },
      'the alarm MAJOR HOT of b at 2026-01-05T00:01:00Z was cleared at 2026-01-05T00:02:00Z; expected open',
    ],
    ['another state', { states: [{ node: 'hot', is: null }] }, 'hot is Below at the end; expected unknown'],
    [
      'a node that the rule lacks',
      { silent: ['rise'] },
      'the rule lacks a node "rise"; its nodes are hot, raise, clear',
    ],
  ])('fails for %s', async (_title, expected, problem) => {
    const { code, stdout } = await run([{ name: 'one', messages, expect: expected }])
    expect(code).toBe(2)
    expect(stdout.split('\n').map((line) => line.trim())).toContain(problem)
  })

  it('prints why a firing is missing as of the expected time, and why one happened', async () => {
    const wrong = { firings: [{ node: 'raise', at: '0s' }, { node: 'clear' }] }
    const { stdout } = await run([{ name: 'one', messages, expect: wrong }])
    expect(stdout).toContain('hot is Below')
    expect(stdout).toContain('└ trigger hot went from Below to Above, so raise fires')
  })

  it('plays a message at the time of its arrival, and lets the clock run until the end', async () => {
    const late = [...messages, { at: '90s', receivedAt: '3m', t: 99 }]
    const { code, stdout } = await run([{ name: 'one', messages: late, until: '1h', expect: { firings: fired } }])
    expect({ code, stdout }).toMatchObject({ code: 0 })
  })

  it('reports all problems of all files at once, with their places', async () => {
    const { code, stderr } = await run([
      { name: 'one', messages: [{ at: 'soon' }], expect: {} },
      { nam: 'two', stored: { from: '-1d' }, until: '1m', expect: { states: [{ node: 'hot', is: 'Above' }] } },
    ])
    expect(code).toBe(1)
    expect(
      stderr.split('error: ').map(
        (line) =>
          line
            .trim()
            .replace(/^hot\.test\.json: /, '')
            .split(/ |;/)[0],
      ),
    ).toEqual(['', '/cases/0/messages/0/at:', '/cases/1/name:', '/cases/1/nam:', '/cases/0/expect:'])
  })

  it.each([
    ['an example without messages', { name: 'one', expect: { firings: [] } }, '/cases/0/messages: is required'],
    [
      'states on stored data',
      { name: 'one', stored: { from: '-1d' }, expect: { states: [{ node: 'hot', is: null }] } },
      '/cases/0/expect/states: does not apply to stored data',
    ],
    [
      'an end on stored data',
      { name: 'one', stored: { from: '-1d' }, until: '1m', expect: { firings: [] } },
      '/cases/0/until: does not apply to stored data',
    ],
  ])('rejects %s', async (_title, one, problem) => {
    const { code, stderr } = await run([one])
    expect(code).toBe(1)
    expect(stderr).toContain(problem)
  })

  it('runs the examples of --only, prints JSON, and writes JUnit', async () => {
    const cases = [
      { name: 'the first', messages, expect: { firings: fired } },
      { name: 'the "second" <&>', messages, expect: { firings: [] } },
    ]
    using space = new Workspace({ 'hot.json': rule, 'hot.test.json': { rule: 'hot.json', resource: 'b', cases } })
    const only = await space.cli(['test', '--only', 'first', '--json'])
    expect(JSON.parse(only.stdout)).toEqual([{ file: 'hot.test.json', cases: [{ name: 'the first', problems: [] }] }])
    expect((await space.cli(['test', '--junit', 'out.xml'])).code).toBe(2)
    const xml = readFileSync(join(space.path, 'out.xml'), 'utf8')
    expect(xml).toContain('<testsuite name="hot.test.json" tests="2" failures="1">')
    expect(xml).toContain('name="the &quot;second&quot; &lt;&amp;&gt;"')
    expect((await space.cli(['test', '--only', 'third'])).stderr).toContain('--only')
  })

  it('fails an example whose rule has problems', async () => {
    using space = new Workspace({
      'bad.json': { sensors: [{ label: 'a', name: 'strem' }] },
      'bad.test.json': { rule: 'bad.json', cases: [{ name: 'one', until: '1m', expect: { firings: [] } }] },
    })
    const { code, stdout } = await space.cli(['test', 'bad.test.json'])
    expect(code).toBe(2)
    expect(stdout).toContain('did you mean "stream"?')
  })

  it('runs again after each change of --watch, also while a file is broken, until it is stopped', async () => {
    const file = (at: string) => ({
      rule: 'hot.json',
      resource: 'b',
      cases: [{ name: 'one', messages, expect: { firings: [{ node: 'raise', at }, { node: 'clear' }] } }],
    })
    using space = new Workspace({ 'hot.json': rule, 'hot.test.json': file('1m') })
    let said = ''
    const write = (text: string): void => void (said += text)
    const terminal: Terminal = {
      out: write,
      err: write,
      paint: plain,
      outIsTerminal: false,
      errIsTerminal: false,
      closed: false,
      full: false,
      drained: () => Promise.resolve(),
    }
    const stop = new AbortController()
    const ended = runTests([space.path], { plugs: [], watch: true }, terminal, stop.signal)
    const path = join(space.path, 'hot.test.json')
    const next = async (content: string, expected: RegExp): Promise<void> => {
      said = ''
      writeFileSync(path, content)
      await expect.poll(() => said).toMatch(expected)
    }
    await expect.poll(() => said).toMatch(/1 example, all hold\n$/)
    await next(JSON.stringify(file('5m')), /1 example, 1 failed\n$/)
    await next('{ "rule": ', /^error: .*hot\.test\.json/)
    await next(JSON.stringify(file('1m')), /1 example, all hold\n$/)
    stop.abort()
    expect(await ended).toBe(0)
  })
})
