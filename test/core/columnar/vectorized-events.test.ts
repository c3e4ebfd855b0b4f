import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { MIN_INDEXED } from '../../../src/core/columnar/limit-index.ts'
import { MIN_VECTORIZED } from '../../../src/core/columnar/vectorized-batch.ts'
import { createEngine, definePlug, VirtualClock, type Message, type Rule } from '../../../src/index.ts'

const act = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute: () => undefined })

/** Of one sensor, which changes when firing begins or ends; of two, which change at other times, too. */
function ruleOf(i: number, sensors: number): Rule {
  const sensor = (label: string, parameter: string, threshold: number) => {
    return { label, resource: 'r', name: 'streamingDataSensor', properties: { parameter, threshold } }
  }
  const actuators = [{ label: 'act', name: 'act' }]
  const warm = sensor('warm', 'a', (i * 7) % 50)
  if (sensors === 1) {
    const triggers = [{ sourceLabel: 'warm', destinationLabel: 'act', statesTrigger: ['Above'] }]
    return { sensors: [warm], actuators, triggers }
  }
  return {
    sensors: [warm, sensor('damp', 'b', (i * 11) % 30)],
    relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [['Above', 'Above']] }],
    actuators,
    triggers: [{ sourceLabel: 'both', destinationLabel: 'act', statesTrigger: ['TRUE'] }],
  }
}

/** Values stay the same for a while, so that states are older than the message. */
const messages = Array.from({ length: 640 }, (_, i): Message => {
  return { resource: 'r', a: (Math.floor(i / 3) * 13) % 53, b: (Math.floor(i / 7) * 5) % 31 }
})

async function heard(rules: number, sensors: number, isPlain: boolean) {
  const clock = new VirtualClock(1000)
  const engine = createEngine({
    plugs: [...builtins, act],
    scheduler: clock,
    seed: 1,
    ...(isPlain && { latency: () => 0 }),
  })
  for (let i = 0; i < rules; i++) await engine.start(ruleOf(i, sensors), { id: `t${i}` })
  const events: string[] = []
  engine.fired$.subscribe((event) => void events.push(JSON.stringify(event)))
  for (const message of messages) {
    clock.advanceTo(clock.now() + 5)
    engine.receive(message)
  }
  const { vectorized } = engine.stats()
  await engine.close()
  return { events, vectorized }
}

// Holds ROWEVENT-1
describe('many rows of one resource', () => {
  it.each([
    [MIN_VECTORIZED, 1],
    [MIN_VECTORIZED, 2],
    [MIN_INDEXED + 3, 2],
  ])('tell who fired and why as each would alone: %i, of %i sensors', async (rules, sensors) => {
    const rows = await heard(rules, sensors, false)
    const plain = await heard(rules, sensors, true)
    expect(rows.vectorized).toBeGreaterThan(rules * 500)
    expect(plain.vectorized).toBe(0)
    // The first that differs: showing how long lists differ takes minutes.
    const place = rows.events.findIndex((event, i) => event !== plain.events[i])
    expect(rows.events[place]).toBe(plain.events[place])
    expect(rows.events.length).toBe(plain.events.length)
  })
})
