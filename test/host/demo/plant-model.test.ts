import { describe, expect, it } from 'vitest'
import { INCIDENT, MACHINES, type Reading, readingAt } from '../../../src/host/demo/plant-model.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const plant = { seed: 7, began: Date.parse('2026-11-30T08:00:00Z') }

/** The readings of a machine each minute of the three days before the plant began; undefined: silent. */
function past(id: string, seed = plant.seed): readonly (Reading | undefined)[] {
  const machine = machineOf(id)
  return Array.from({ length: 72 * 60 }, (_, i) =>
    readingAt({ ...plant, seed }, machine, plant.began - 72 * HOUR + i * MINUTE),
  )
}

function machineOf(id: string) {
  const machine = MACHINES.find((one) => one.id === id)
  if (machine === undefined) throw new Error(`no machine ${id}`)
  return machine
}

const valuesOf = (readings: readonly (Reading | undefined)[], metric: string): readonly number[] =>
  readings.flatMap((reading) => (reading === undefined ? [] : [Number(reading[metric])]))

describe('the plant', () => {
  it('has ten machines of two types', () => {
    expect(MACHINES.filter(({ type }) => type === 'demo-boiler')).toHaveLength(6)
    expect(MACHINES.filter(({ type }) => type === 'demo-cold-room')).toHaveLength(4)
    expect(new Set(MACHINES.map(({ id }) => id)).size).toBe(10)
  })

  it('is equal for equal seeds, and different for others', () => {
    expect(past('demo-boiler-1')).toEqual(past('demo-boiler-1'))
    expect(past('demo-boiler-1', 8)).not.toEqual(past('demo-boiler-1'))
  })

  it('is warmer in the afternoon than at night', () => {
    const mean = (hour: number) => {
      const at = [1, 2, 3].map((day) => plant.began - day * 24 * HOUR + (hour - 8) * HOUR)
      const values = MACHINES.flatMap((machine) =>
        at.map((time) => Number(readingAt(plant, machine, time)?.['temperature'] ?? 0)),
      )
      return values.reduce((sum, value) => sum + value, 0) / values.length
    }
    expect(mean(15)).toBeGreaterThan(mean(3) + 2)
  })

  it('has each kind of fault within three days, and gaps between messages', () => {
    const all = MACHINES.map(({ id }) => past(id))
    const some = (test: (reading: Reading) => boolean) =>
      all.some((one) => one.some((reading) => reading && test(reading)))
    expect(some(({ pump }) => pump === false)).toBe(true)
    expect(some(({ pressure = 9 }) => Number(pressure) < 1.2)).toBe(true)
    expect(some(({ door }) => door === true)).toBe(true)
    expect(some(({ power = 9 }) => Number(power) < 0.5)).toBe(true)
    expect(all.some((one) => one.includes(undefined))).toBe(true)
  })

  it('has readings in a plausible range', () => {
    for (const { id, type } of MACHINES) {
      const [low, high] = type === 'demo-boiler' ? [60, 100] : [-3, 18]
      const values = valuesOf(past(id), 'temperature')
      expect(Math.min(...values), id).toBeGreaterThan(low)
      expect(Math.max(...values), id).toBeLessThan(high)
    }
  })

  it.each([1, 2, 3, 99, 12_345])(
    'stops a pump and overheats within thirty seconds of its beginning, seed %i',
    (seed) => {
      const at = (ms: number) => readingAt({ ...plant, seed }, machineOf(INCIDENT), plant.began + ms)
      expect(at(25 * SECOND)?.['pump']).toBe(false)
      expect(at(25 * SECOND)?.['temperature']).toBeGreaterThan(90)
      expect(at(10 * MINUTE)?.['pump']).toBe(true)
    },
  )
})
