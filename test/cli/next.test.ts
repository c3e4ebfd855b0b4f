import { describe, expect, it } from 'vitest'
import { cli } from './run-cli.ts'

const nightly = ['next', '0 30 2 * * ?', '--zone', 'Europe/Brussels', '--from', '2026-03-28']

describe('next', () => {
  it('shows the next runs, the days on which the clocks change, and a downtime under each policy', async () => {
    const { code, stdout, stderr } = await cli([...nightly, '-n', '2', '--down', '2026-03-28..2026-03-31'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(`0 30 2 * * ?: cron in Europe/Brussels, from 2026-03-28T00:00:00

local time                     UTC                           in
Sat 2026-03-28T02:30:00+01:00  2026-03-28T01:30:00Z  2 h 30 min
Sun 2026-03-29T03:30:00+02:00  2026-03-29T01:30:00Z     1 d 2 h  shifted: clocks skip this local time that day

When the clocks change (two years; gap: shift, overlap: first)
  2026-03-29  gap, +01:00 to +02:00      02:30:00 does not exist: it runs at 03:30:00+02:00
  2026-10-25  overlap, +02:00 to +01:00  02:30:00 occurs twice: it runs the first time, at 02:30:00+02:00
  2027-03-28  gap, +01:00 to +02:00      02:30:00 does not exist: it runs at 03:30:00+02:00
  2027-10-31  overlap, +02:00 to +01:00  02:30:00 occurs twice: it runs the first time, at 02:30:00+02:00
  2028-03-26  gap, +01:00 to +02:00      02:30:00 does not exist: it runs at 03:30:00+02:00

Down from 2026-03-28T00:00:00 to 2026-03-31T00:00:00 (2 d 23 h)
  misfire skip  nothing runs late, 3 skipped
  misfire once  1 run late, 2 skipped: 2026-03-30T02:30:00+02:00
  misfire all   3 runs late, 0 skipped: 2026-03-28T02:30:00+01:00, 2026-03-29T03:30:00+02:00, 2026-03-30T02:30:00+02:00
`)
  })

  it.each([
    [['--dst-gap', 'skip'], '02:30:00 does not exist: no run'],
    [['--dst-overlap', 'second'], '02:30:00 occurs twice: it runs the second time, at 02:30:00+01:00'],
    [['--dst-overlap', 'both'], '02:30:00 occurs twice: it runs both times, at 02:30:00+02:00 and 02:30:00+01:00'],
  ])('follows %j', async (options, text) => {
    expect((await cli([...nightly, ...options])).stdout).toContain(text)
  })

  it('warns of a unix cron with both day fields', async () => {
    const { stdout } = await cli(['next', '0 9 13 * 5', '--from', '2026-03-01', '-n', '1'])
    expect(stdout).toContain(
      'WARNING day-of-month "13" and day-of-week "5" are both set: it runs on days that match either',
    )
  })

  it('names the days that touch no run, in order with the ones that do', async () => {
    const once = 'DTSTART;TZID=Europe/Brussels:20260301T023000\\nRRULE:FREQ=DAILY;UNTIL=20260930'
    const { stdout } = await cli(['next', once, '--from', '2026-03-01', '-n', '1'])
    expect(stdout).toContain(`  2026-03-29  gap, +01:00 to +02:00  02:30:00 does not exist: it runs at 03:30:00+02:00
  2026-10-25                         no run is affected
  2027-03-28                         no run is affected
`)
    expect((await cli(['next', '0 0 12 * * ?', '-n', '1'])).stdout).toContain('  never in UTC\n')
  })

  it('says when a rule comes to its end', async () => {
    const { stdout } = await cli(['next', 'FREQ=DAILY;COUNT=3', '--from', '2026-01-01'])
    expect(stdout).toContain('\nAfter that it never runs again.\n')
    expect((await cli(['next', '0 0 0 1 1 ? 2020'])).stdout).toContain('\nIt never runs again.\n')
  })

  it('takes an expression that was not quoted', async () => {
    const { stdout } = await cli(['next', '0', '30', '2', '?', '*', 'MON', '--from', '2026-03-28', '--json', '-n', '1'])
    expect(stdout).toBe('{"at":"2026-03-30T02:30:00Z","scheduledAt":"2026-03-30T02:30:00+00:00"}\n')
  })

  it('reports all that is wrong at once, each with its field, its range and the offending text', async () => {
    const wrong = ['--zone', 'Europe/Brusels', '-n', '0', '--from', 'soon', '--down', '1', '--dst-gap', 'no']
    const { code, stdout, stderr } = await cli(['next', '0 61 25 * * ?', ...wrong])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringContaining('error: --zone: "Europe/Brusels" is not a time zone; did you mean Europe/Brussels?'),
      expect.stringContaining('error: --from: "soon" is not a valid time'),
      expect.stringContaining('error: --down: "1" is not a valid range'),
      'error: --count: "0" is not a valid number of runs; write 1 to 10000',
      'error: --dst-gap, --dst-overlap: "no" is not a valid policy for a gap; write shift or skip',
      'error: cron: minute: "61" is out of range; minute takes 0-59',
      'error: cron: hour: "25" is out of range; hour takes 0-23',
    ])
  })
})
