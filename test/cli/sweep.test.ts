import { describe, expect, it } from 'vitest'
import { readText } from '../support/repository.ts'
import { cli, Workspace } from './run-cli.ts'

const rule = 'fixtures/rules/overheating.json'
const playing = ['--messages', 'fixtures/recordings/boiler.csv', '--resource', 'boiler-1']

describe('sweep', () => {
  it('prints a row for each value, with firings in all and per day', async () => {
    const { code, stdout, stderr } = await cli(['sweep', rule, '--set', 'temperature.threshold=80..100/10', ...playing])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.replace(/ in [\d.]+ m?s\n/, ' in N\n'))
      .toBe(`fixtures/recordings/boiler.csv: 1,440 messages of boiler-1 (CSV)
2025-01-15T00:00:00 to 2025-01-15T23:59:00 (23 h 59 min), times in UTC

temperature.threshold  alarm  per day  all_clear  per day
                   80      3     3.00          2     2.00
                   90      3     3.00          2     2.00
                  100      0     0.00          0     0.00

3 runs in one pass over 1,440 messages in N
`)
  })

  it('takes variables of a template, one of them fixed', async () => {
    const set = ['--set', 'metric=temperature', '--set', 'limit=70..90/10']
    const { code, stdout } = await cli(['sweep', 'fixtures/rules/threshold.json', ...set, ...playing])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ +metric +limit /m)
    expect(stdout.match(/^temperature +\d+ /gm)).toHaveLength(3)
  })

  it.each<[string, string[], string]>([
    [
      'a node that is not there, with the nearest',
      ['--set', 'temprature.threshold=70..90/5'],
      'error: --set temprature.threshold: there is no node "temprature"; did you mean temperature.threshold?\n',
    ],
    [
      'each property that is not there',
      ['--set', 'temperature.treshold=1', '--set', 'alarm.lvl=2'],
      `error: --set temperature.treshold: temperature has no property "treshold"; did you mean temperature.threshold?
error: --set alarm.lvl: alarm has no property "lvl"; did you mean alarm.level?\n`,
    ],
    [
      'all bad options at once',
      ['--set', 'threshold', '--set', 'a.b=1..2', '--set', 'c=1', '--set', 'c=2', '--seed', 'x', '--order', 'up'],
      `error: --set: "threshold" sets nothing; write node.property=70..90/5, or name=70,75,90 for a variable
error: --set a.b: the range "1..2" has no step; write a range with its step such as 70..90/5, a list such as 70,75,90, or one value
error: --set: c is given twice; write its values as one list such as c=70,75,90
error: --seed: "x" is not a seed; write a whole number from 0 to 4294967295
error: --order: "up" is not an order; write time, file or lived\n`,
    ],
    ['nothing to sweep', [], 'error: there is nothing to sweep: give --set node.property=70..90/5\n'],
    [
      'a grid above a thousand runs',
      ['--set', 'temperature.threshold=1..100/1', '--set', 'alarm.invocationPolicy=1..100/1'],
      'error: --set: the grid has 10,000 runs, more than 1,000; take larger steps or fewer values\n',
    ],
    [
      'a prototype',
      ['--set', '__proto__=1'],
      'error: --set: nothing can be named "__proto__"; write node.property=70..90/5\n',
    ],
  ])('refuses %s', async (_, options, message) => {
    expect(await cli(['sweep', rule, ...options, ...playing])).toEqual({ code: 1, stdout: '', stderr: message })
  })

  it('names the value that the rule cannot have', async () => {
    const { code, stderr } = await cli(['sweep', rule, '--set', 'temperature.threshold=90,{}', ...playing])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: --set: \/sensors\/0\/properties\/threshold: with temperature\.threshold=\{\}: /)
    expect(stderr).not.toContain('threshold=90')
  })

  it('reports a bad rule and a bad recording together, and runs nothing', async () => {
    using files = new Workspace({ 'r.json': { sensors: 1 }, 'm.csv': 'timestamp,t\nnever,1\n' })
    const { code, stdout, stderr } = await files.cli(['sweep', 'r.json', '--set', 'a.b=1', '--messages', 'm.csv'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/ERROR {3}r\.json: \/sensors[^]*m\.csv:2: "never" is not a time[^]*nothing was run\n$/)
  })

  it('reads the rule or the recording from standard input', async () => {
    const set = ['--set', 'temperature.threshold=90']
    const { stdout } = await cli(['sweep', '-', ...set, ...playing], { input: readText(rule) })
    expect(stdout).toMatch(/^ +90 +3 /m)
  })
})
