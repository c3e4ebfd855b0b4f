/** Tests the waits of tasks while the host is down, across crashes on one disk. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../../plugins/index.ts'
import type { Sensor } from '../../../../src/core/rule/rule.ts'
import { Ground, runnableOf, type Life } from './support/lives.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const BEGIN = Date.UTC(2026, 0, 5, 6)

const silence = (duration: string): Sensor => ({
  label: 's',
  name: 'noDataFor',
  resource: '$',
  properties: { duration },
})
const HOLDING: Sensor = {
  label: 's',
  name: 'holdsFor',
  resource: '$',
  properties: { condition: 'v > 5', duration: '5m' },
}
const tasks = (sensor: Sensor) => [
  runnableOf('t', { sensors: [sensor] }, { resource: 'r' }),
  runnableOf('another', { sensors: [silence('1d')] }, { resource: 'another' }),
]

/** Opens a life with the tasks; the first life begins them, later ones resume them. */
async function lifeAt(ground: Ground, sensor: Sensor, at: number, isFirst: boolean): Promise<Life> {
  const life = ground.open({ at: BEGIN + at, plugs: builtins })
  if (isFirst) for (const one of tasks(sensor)) await life.begin(one)
  else await life.runner.resume(tasks(sensor))
  await life.rest()
  return life
}

function stateOf(life: Life): string | undefined {
  return life.runner.nodes.view('t')[0]?.mostLikelyState?.state
}

type Moment = readonly [
  at: number,
  what: 'dies' | 'starts' | 'hears' | 'hears another' | 'Data' | 'No Data' | 'Pending' | 'Holds',
]

describe('a host after a downtime', () => {
  it.each<[string, Sensor, readonly Moment[]]>([
    [
      'reports no silence before devices could speak, then reports it',
      silence('8s'),
      [
        [5 * SECOND, 'dies'],
        [17 * SECOND, 'starts'],
        [24 * SECOND, 'Data'],
        [26 * SECOND, 'No Data'],
      ],
    ],
    [
      'does so when it dies again meanwhile',
      silence('8s'),
      [
        [5 * SECOND, 'dies'],
        [17 * SECOND, 'starts'],
        [22 * SECOND, 'dies'],
        [23 * SECOND, 'starts'],
        [24 * SECOND, 'Data'],
        [26 * SECOND, 'No Data'],
      ],
    ],
    [
      'knows of a downtime that an earlier life had, long after it',
      silence('10m'),
      [
        [9 * MINUTE, 'dies'],
        [11 * MINUTE, 'starts'],
        [12 * MINUTE, 'hears another'],
        [14 * MINUTE, 'dies'],
        [14 * MINUTE + SECOND, 'starts'],
        [20 * MINUTE, 'Data'],
        [21 * MINUTE + SECOND, 'No Data'],
      ],
    ],
    [
      'knows up to when it was there, although nothing happened',
      silence('1m'),
      [
        [50 * SECOND, 'dies'],
        [51 * SECOND, 'starts'],
        [59 * SECOND, 'Data'],
        [61 * SECOND, 'No Data'],
      ],
    ],
    [
      'has what holds wait for a reading',
      HOLDING,
      [
        [10 * SECOND, 'dies'],
        [10 * MINUTE, 'starts'],
        [11 * MINUTE, 'Pending'],
        [12 * MINUTE, 'dies'],
        [12 * MINUTE + SECOND, 'starts'],
        [13 * MINUTE, 'Pending'],
        [14 * MINUTE, 'hears'],
        [14 * MINUTE, 'Holds'],
      ],
    ],
  ])('%s', async (_, sensor, moments) => {
    const ground = new Ground()
    let life = await lifeAt(ground, sensor, 0, true)
    await life.send('r', { v: 9 })
    for (const [at, what] of moments) {
      if (what === 'starts') {
        life = await lifeAt(ground, sensor, at, false)
        continue
      }
      await life.to(BEGIN + at)
      if (what === 'dies') await life.crash()
      else if (what === 'hears') await life.send('r', { v: 9 })
      else if (what === 'hears another') await life.send('another', { v: 9 })
      else expect(`${at} ${stateOf(life)}`).toBe(`${at} ${what}`)
    }
    await life.close()
  })
})
