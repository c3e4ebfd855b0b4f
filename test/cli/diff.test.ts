import { describe, expect, it } from 'vitest'
import { readText } from '../support/repository.ts'
import { cli, Workspace } from './run-cli.ts'

const old = 'fixtures/rules/overheating.json'
const later = 'fixtures/rules/overheating-later.json'
const boiler = 'fixtures/recordings/boiler.csv'
const playing = `--messages ${boiler} --resource boiler-1`

describe('diff', () => {
  it('prints where two rules part, each firing that differs with its reason, and a table', async () => {
    const { code, stdout, stderr } = await cli(`diff ${old} ${later} ${playing}`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(`fixtures/recordings/boiler.csv: 1,440 messages of boiler-1 (CSV)
2025-01-15T00:00:00 to 2025-01-15T23:59:00 (23 h 59 min), times in UTC

They part at 2025-01-15T09:53:00, message 594 (boiler-1: temperature 90, pressure 2, pump false)
  old  temperature became Equal (parameter "temperature", threshold 90, data 90)
  new  temperature became Below (parameter "temperature", threshold 93, data 90)

2025-01-15T09:54:00  alarm  5 min later in new, at 2025-01-15T09:59:00: hot_and_still is TRUE
                     new: hot_and_still is FALSE (AND of temperature = Below, pump_runs = False); needs temperature Above
2025-01-15T17:25:00  alarm  5 min later in new, at 2025-01-15T17:30:00: hot_and_still is TRUE
                     new: hot_and_still is FALSE (AND of temperature = Below, pump_runs = False); needs temperature Above
2025-01-15T18:00:00  alarm  only in new: hot_and_still is TRUE
                     old: alarm fired and does not fire again within 3600 s
2025-01-15T18:25:00  alarm  5 min later in new, at 2025-01-15T18:30:00: hot_and_still is TRUE
                     new: alarm fired and does not fire again within 1800 s

node       old  new  equal  moved  only old  only new
alarm        3    4      -      3         -         1
all_clear    2    2      2      -         -         -

4 differences over 1,440 messages
`)
  })

  it('says so when nothing differs', async () => {
    const { code, stdout } = await cli(`diff ${old} ${old} ${playing} --exit-code`)
    expect(code).toBe(0)
    expect(stdout).toMatch(/\nNo difference over 1,440 messages\n$/)
  })

  it('exits with 2 when there are differences and --exit-code asks for it', async () => {
    const { code, stderr } = await cli(`diff ${old} ${later} ${playing} --exit-code`)
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
  })

  it('compares the firings that an earlier run printed', async () => {
    using space = new Workspace({ 'bad.ndjson': '{"type":"state"}\n{"type":"fired","time":1}\n' })
    const printed = (await cli(`simulate ${later} ${playing} --json`)).stdout
    const compared = (rule: string) => cli(`diff ${rule} --firings - ${playing} --exit-code`, { input: printed })
    expect((await compared(later)).stdout).toMatch(/\nNo difference over 1,440 messages\n$/)
    const { code, stdout } = await compared(old)
    expect(code).toBe(2)
    expect(stdout).toContain('2025-01-15T09:54:00  alarm  5 min earlier in new, at')
    expect(stdout).toContain('alarm        4    3      -      3         1         -')
    const { stderr } = await cli(`diff ${old} --firings ${space.path}/bad.ndjson ${playing}`)
    expect(stderr).toContain('bad.ndjson:2: the line is a firing without time, node or source; use the unchanged line')
  })

  it('prints fifty differences, and all when asked', async () => {
    const quick = JSON.parse(readText(old)) as { triggers: { invocationPolicy?: number }[] }
    for (const trigger of quick.triggers) trigger.invocationPolicy = 0
    using files = new Workspace({ 'quick.json': quick, 'old.json': readText(old), 'm.csv': readText(boiler) })
    const args = 'diff old.json quick.json --messages m.csv --resource boiler-1'
    const some = await files.cli(args)
    expect(some.stdout.match(/only in new/g)).toHaveLength(50)
    expect(some.stdout).toContain('... and 63 more differences (--all prints them)\n')
    expect((await files.cli(`${args} --all`)).stdout.match(/only in new/g)).toHaveLength(113)
  })
})
