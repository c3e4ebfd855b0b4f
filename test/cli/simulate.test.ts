import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { simulate, type Rule } from '../../src/index.ts'
import { builtCode } from '../support/built-code.ts'
import { readText, root } from '../support/repository.ts'
import { cli, Workspace } from './run-cli.ts'

const boiler = 'fixtures/recordings/boiler.csv'
const overheating = `simulate fixtures/rules/overheating.json --messages ${boiler} --resource boiler-1`
const silence = 'simulate fixtures/rules/silence.json --messages fixtures/recordings/heartbeat.ndjson --resource pump-7'

/** Replaces the only words that differ between runs. */
function timeless(text: string): string {
  return text.replace(/virtual time in .*$/m, 'virtual time in N').replace(/ +$/gm, '')
}

function jsonLines(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

describe('simulate', () => {
  it('prints a header, a line per firing with its message, a table, and what still waits', async () => {
    const { code, stdout, stderr } = await cli(silence)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(timeless(stdout)).toBe(`Dead man's switch: reactive task on pump-7
fixtures/recordings/heartbeat.ndjson: 6 messages of pump-7 (NDJSON)
2025-03-04T08:00:00 to 2025-03-04T08:45:00 (45 min), times in UTC

2025-03-04T08:00:00  ten_minutes_of_silence  heartbeat has run
2025-03-04T08:05:00  ten_minutes_of_silence  heartbeat has run
2025-03-04T08:10:00  ten_minutes_of_silence  heartbeat has run
2025-03-04T08:14:59  ten_minutes_of_silence  heartbeat has run
2025-03-04T08:24:59  call_somebody           ten_minutes_of_silence is Triggered
                     no sign of life from pump-7 for ten minutes
2025-03-04T08:40:00  ten_minutes_of_silence  heartbeat has run
2025-03-04T08:45:00  ten_minutes_of_silence  heartbeat has run

node                    plug or gate  runs  changes  fired  errors  held back
heartbeat               stream           6        1      -       -
ten_minutes_of_silence  delaySensor      6        3      6       -
call_somebody           log              1        -      1       -

6 messages, 6 invocations, 7 firings, 45 min of virtual time in N
1 execution unfinished at the end: ten_minutes_of_silence until 2025-03-04T08:55:00; --until 2025-03-04T08:55:00 runs the clock until then
`)
  })

  it('runs the clock on to --until', async () => {
    const { stdout } = await cli(`${silence} --until 2025-03-04T09:00:00Z`)
    expect(stdout).toContain('2025-03-04T08:55:00  call_somebody')
    expect(stdout).not.toContain('unfinished')
  })

  it('prints the story of the boiler: three alarms, two all-clears, and 37 messages that do not run the sensor of a value they lack', async () => {
    const { code, stdout } = await cli(`${overheating} --why`)
    expect(code).toBe(0)
    const firings = stdout.split('\n').filter((line) => /^2025-01-15T\S+ {2}\w/.test(line))
    expect(firings.map((line) => line.replace(/^2025-01-15T(\S{5}):00 +/, '$1 '))).toEqual([
      '09:54 alarm      hot_and_still is TRUE',
      '10:25 all_clear  hot_and_still went from TRUE to FALSE',
      '17:25 alarm      hot_and_still is TRUE',
      '18:25 alarm      hot_and_still is TRUE',
      '18:50 all_clear  hot_and_still went from TRUE to FALSE',
    ])
    expect(stdout).toContain('├ gate    hot_and_still is TRUE: AND of temperature Above, pump_runs False\n')
    expect(stdout).toMatch(/alarm +log +3 +- +3 +- +113 by cool-down\n/)
    expect(stdout).toMatch(/temperature +streamingDataSensor +1,403 +9 +- +-\n/)
    expect(stdout).not.toContain('error  ')
  })

  it('explains every actuator when nothing fired', async () => {
    const { code, stdout } = await cli(`${overheating} --until 2025-01-15T05:00:00Z`)
    expect(code).toBe(0)
    expect(stdout).toContain(
      '\nNothing fired.\n\nalarm has not fired.\n  trigger   alarm fires when hot_and_still is TRUE.\n  held by   ',
    )
    expect(stdout).toContain('\nall_clear has not fired.\n')
    expect(stdout).toContain('\n  needs     It requires temperature Above.\n')
    expect(stdout).toMatch(/\nhot_and_still is FALSE since .*, because temperature is Below and pump_runs is \w+\.\n/)
    expect(stdout).toContain('\n  to TRUE   It requires temperature Above.\n')
  })

  it('says so when no message is for the rule', async () => {
    const { stdout } = await cli(
      'simulate fixtures/rules/overheating.json --resource boiler-1 --messages fixtures/recordings/door-and-motion.ndjson',
    )
    expect(stdout).toContain('no message reached a sensor: the recording contains front-door, hall;')
  })

  it('leaves out the messages before --from and after --until', async () => {
    const { stdout } = await cli(`${overheating} --from 2025-01-15T10:00 --until 2025-01-15T10:30 --zone UTC`)
    expect(stdout).toContain('2025-01-15T10:00:00 to 2025-01-15T10:30:00 (30 min), times in UTC\n')
    expect(stdout).toContain('\n31 messages, 31 invocations, ')
  })

  it('prints the events of the library, one a line, and nothing else', async () => {
    const { code, stdout, stderr } = await cli(`${silence} --json --until 2025-03-04T09:00:00Z`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const messages = jsonLines(readText('fixtures/recordings/heartbeat.ndjson')).map((line) => {
      const message = line as { timestamp: string }
      return { ...message, resource: 'pump-7', timestamp: Date.parse(message.timestamp) }
    })
    const rule = JSON.parse(readText('fixtures/rules/silence.json')) as Rule
    const run = await simulate(rule, { messages, plugs: builtins, resource: 'pump-7', until: '2025-03-04T09:00:00Z' })
    expect(run.events.length).toBeGreaterThan(20)
    expect(jsonLines(stdout)).toEqual(jsonLines(run.events.map((event) => JSON.stringify(event)).join('\n')))
  })

  it('starts a template with variables, and reads a recording from standard input', async () => {
    const args = 'simulate fixtures/rules/threshold.json --messages - --resource r --set metric=t --set limit=5'
    const { code, stdout } = await cli(args, { input: 'timestamp,t\n1736928000000,4\n1736928060000,6\n' })
    expect(code).toBe(0)
    expect(stdout).toContain('stdin: 2 messages of r (CSV)\n')
    expect(stdout).toContain(
      '2025-01-15T08:01:00  notice  level went from Below to Above\n                     t is above 5\n',
    )
  })

  it('lets the clock alone run a rule, in its own zone', async () => {
    const args = ['simulate', 'fixtures/rules/nightly-check.json', '--from', '2025-03-28', '--until', '2025-04-02']
    const { code, stdout } = await cli([...args, '--zone', 'Europe/Brussels'])
    expect(code).toBe(0)
    const nights = [...stdout.matchAll(/^(\S+) {2}report {2}coin is 1$/gm)].map(([, time]) => time)
    expect(nights).toEqual(['2025-03-28T02:30:00', '2025-03-30T03:30:00', '2025-04-01T02:30:00'])
    expect(stdout).toContain('no messages, only the clock\n')
  })

  it('repeats itself with the same seed, and not with another', async () => {
    const rule = { sensors: [{ label: 'd', name: 'dice' }], task: { type: 'periodic', frequency: 1000 } }
    using space = new Workspace({ 'dice.json': rule })
    const args = ['simulate', 'dice.json', '--from', '0', '--until', '60000', '--json']
    const [one, same, other] = await Promise.all(
      [['1'], ['1'], ['2']].map(([seed = '']) => space.cli([...args, '--seed', seed])),
    )
    expect(one?.stdout.split('\n').length).toBeGreaterThan(100)
    expect(same?.stdout).toBe(one?.stdout)
    expect(other?.stdout).not.toBe(one?.stdout)
  })

  const BACK = 'timestamp,t,receivedAt\n0,1,120000\n60000,2,60000\n30000,3,90000\n'

  it.each([
    [
      'time',
      '',
      '0 1, 30000 3, 60000 2',
      'WARNING back.csv:4: goes back 30 s to 1970-01-01T00:00:30; 1 line is processed in order of time; --order file processes them',
    ],
    [
      'file',
      '',
      '0 1, 60000 2, 60000 3',
      'WARNING back.csv:4: goes back 30 s to 1970-01-01T00:00:30; 1 line is processed late; --order time sorts them',
    ],
    ['lived', '', '60000 2, 90000 3, 120000 1', ''],
    ['time', ' --down 1970-01-01T00:00:20..1970-01-01T00:00:50', '0 1, 50000 3, 60000 2', ''],
  ])('plays a recording in the order %s %j', async (order, more, expected, warning) => {
    using space = new Workspace({
      'back.csv': BACK,
      'rule.json': { sensors: [{ label: 'a', name: 'stream', resource: '$' }], task: { time: 'arrival' } },
    })
    const args = `simulate rule.json --messages back.csv --resource r --order ${order} --json${more}`
    const { code, stdout, stderr } = await space.cli(args)
    expect(code).toBe(0)
    const events = jsonLines(stdout) as { type: string; time: number; values?: { t: number } }[]
    expect(
      events.flatMap(({ type, time, values }) => (type === 'data' ? [`${time} ${values?.t}`] : [])).join(', '),
    ).toBe(expected)
    if (warning !== '') expect(stderr).toContain(warning)
  })

  it('ends quietly when the reader of its output goes away', async () => {
    const child = spawn(process.execPath, [builtCode('cli.js'), ...overheating.split(' '), '--json'], { cwd: root })
    let stderr = ''
    child.stderr.on('data', (text: Buffer) => void (stderr += text.toString()))
    child.stdout.once('data', () => child.stdout.destroy())
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})
