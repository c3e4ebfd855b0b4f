import { describe, expect, it } from 'vitest'
import type { TaskSettings } from '../../../src/core/rule/rule.ts'
import { normalizeSettings, type NormalSettings } from '../../../src/core/rule/settings.ts'

const DEFAULTS: NormalSettings = {
  name: 'task',
  start: true,
  type: 'reactive',
  resource: undefined,
  variables: {},
  resetObservations: true,
  resetScope: 'invocation',
  parallel: true,
  gatesNeedFullObservation: false,
  frequency: undefined,
  pollingFixedRate: true,
  cron: undefined,
  rrule: undefined,
  timeZone: 'UTC',
  misfire: 'skip',
  maxLatenessMs: undefined,
  maxMissed: 100,
  overlap: 'skip',
  streamValidity: undefined,
  whenBusy: 'queue',
  late: 'drop',
  reorderMs: 0,
  time: 'event',
  duplicates: 'drop',
  downtime: undefined,
  dst: {},
  tags: {},
}

describe('normalizeSettings', () => {
  it.each<[string, TaskSettings, Partial<NormalSettings>]>([
    ['the defaults apply without settings', {}, {}],
    ['frequency is ms', { type: 'periodic', frequency: 250 }, { type: 'periodic', frequency: 250 }],
    [
      'pollingInterval is seconds',
      { type: 'periodic', pollingInterval: 900 },
      { type: 'periodic', frequency: 900_000 },
    ],
    ['frequency wins', { type: 'periodic', frequency: 5, pollingInterval: 900 }, { type: 'periodic', frequency: 5 }],
    ['the type follows from the clock', { rrule: 'FREQ=DAILY' }, { type: 'scheduled', rrule: 'FREQ=DAILY' }],
    ['a clock the type does not read is left out', { type: 'reactive', frequency: 5, cron: 'x' }, {}],
    ['an empty resource counts as absent', { resource: '' }, {}],
    ['maxLateness becomes ms', { maxLateness: 'PT1M' }, { maxLatenessMs: 60_000 }],
    ['late readings are accepted', { late: 'take' }, { late: 'take' }],
    ['reorder becomes ms', { late: { reorder: '30s' } }, { reorderMs: 30_000 }],
    [
      'reorder may accept later readings',
      { late: { reorder: 'PT1M', then: 'take' } },
      { late: 'take', reorderMs: 60_000 },
    ],
    ['time and duplicates stay', { time: 'arrival', duplicates: 'take' }, { time: 'arrival', duplicates: 'take' }],
    ['maxMissed stays as it is', { maxMissed: 0 }, { maxMissed: 0 }],
    ['a dst policy stays as it is', { dst: { gap: 'skip' } }, { dst: { gap: 'skip' } }],
    [
      'false stays false',
      { start: false, parallel: false, resetObservations: false, pollingFixedRate: false },
      { start: false, parallel: false, resetObservations: false, pollingFixedRate: false },
    ],
  ])('%s', (_name, settings, expected) => {
    expect(normalizeSettings(settings)).toEqual({ ...DEFAULTS, ...expected })
  })
})
