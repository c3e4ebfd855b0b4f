import { describe, expect, it } from 'vitest'
import { readText } from '../support/repository.ts'
import { cli } from './run-cli.ts'

const rule = 'fixtures/rules/overheating.json'
const playing = '--messages fixtures/recordings/boiler.csv --resource boiler-1'

describe('sweep', () => {
  it('prints a row for each value, with firings in all and per day', async () => {
    const { code, stdout, stderr } = await cli(`sweep ${rule} --set temperature.threshold=80..100/10 ${playing}`)
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
    const set = '--set metric=temperature --set limit=70..90/10'
    const { code, stdout } = await cli(`sweep fixtures/rules/threshold.json ${set} ${playing}`)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ +metric +limit /m)
    expect(stdout.match(/^temperature +\d+ /gm)).toHaveLength(3)
  })

  it('reads the rule or the recording from standard input', async () => {
    const { stdout } = await cli(`sweep - --set temperature.threshold=90 ${playing}`, { input: readText(rule) })
    expect(stdout).toMatch(/^ +90 +3 /m)
  })
})
