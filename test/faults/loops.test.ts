/** Rules that set each other off: one message may make a bounded number of others, and clients are served meanwhile. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { wholeHost, type WholeHost } from '../host/whole-host.ts'

const BUDGET = 200
const PATIENCE = { timeout: 60_000, interval: 50 }

const forwards = (label: string) => ({ label, name: 'forwardMessage', properties: { payload: { again: 1 } } })

/** A rule on one resource whose actuator runs with each message. */
function ruleOf(name: string, actuator: object & { label: string }, sensor: object = { name: 'stream' }): object {
  return {
    sensors: [{ label: 'any', resource: '$', ...sensor }],
    actuators: [actuator],
    triggers: [{ sourceLabel: 'any', destinationLabel: actuator.label, invocationPolicy: 0 }],
    task: { name, type: 'reactive', resource: 'boiler', start: true },
  }
}

let host: WholeHost
beforeEach(async () => {
  host = await wholeHost({ empty: true, rateLimit: '0', maxDescendants: BUDGET })
})
afterEach(() => host[Symbol.asyncDispose]())

const begin = async (rule: object) => (await host.done<{ ID: string }>('POST', '/api/tasks', rule)).ID
const send = (message: object) => host.done('POST', '/resources/boiler/events', message)

/** The figure of that name; 0 without one. */
async function figure(name: string): Promise<number> {
  const line = (await host.figures()).find((one) => one.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}
const refused = () => figure('reflexarc_things_total{thing="refused-descendants"}')
const accepted = () => figure('reflexarc_things_total{thing="broker-accepted"}')

/** Resolves when nothing happens any more. */
async function quiet(): Promise<void> {
  for (let before = -1, same = 0; same < 20;) {
    await turn()
    const now = (await accepted()) + (await refused()) + (await figure('reflexarc_steps_total'))
    same = now === before ? same + 1 : 0
    before = now
  }
}

describe('two rules that forward messages to each other', () => {
  it('create no more messages from one message than the budget, and are named once by the log, by /health, and by dead deliveries', async () => {
    const ids = [await begin(ruleOf('one', forwards('f'))), await begin(ruleOf('two', forwards('g')))]
    await send({ temperature: 1 })
    await expect.poll(refused, PATIENCE).toBeGreaterThan(BUDGET)
    await quiet()
    expect(await accepted()).toBe(1 + BUDGET)
    // each of those that were made is taken by two rules, and the root too
    expect(await refused()).toBe(2 * (1 + BUDGET) - BUDGET)
    const lines = host.log.filter(
      (line) => line.includes('rules trigger each other') && !line.includes('a delivery failed'),
    )
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('through resource boiler')
    const { status, warnings } = await host.done<Record<string, unknown>>('GET', '/health')
    expect(status).toBe('ok')
    expect(warnings).toHaveLength(1)
    for (const [i, label] of ['f', 'g'].entries()) expect(String(warnings)).toContain(`${label} of task ${ids[i]}`)
    const dead = await host.done('GET', `/api/tasks/${ids[0]}/deliveries?status=dead&limit=1`)
    expect(JSON.stringify(dead)).toContain(`${BUDGET} messages, commands and alarms, which is the limit`)
  })

  it('do not affect the budget of the next message', async () => {
    await begin(ruleOf('one', forwards('f')))
    await begin(ruleOf('two', forwards('g')))
    await Promise.all(Array.from({ length: 2 }, (_, n) => send({ n })))
    await quiet()
    expect(await accepted()).toBe(2 * (1 + BUDGET))
  })
})

describe('rules that trigger each other in other ways', () => {
  it('by alarms share the budget of alarm and messages', async () => {
    const heard = { name: 'AlarmEventSensor' }
    const raises = (label: string) => ({ label, name: 'createAlarm', properties: { type: 'HOT' } })
    await begin(ruleOf('one', raises('f'), heard))
    await begin(ruleOf('two', raises('g'), heard))
    await begin(ruleOf('three', forwards('h'), heard))
    await begin(ruleOf('begin', raises('first')))
    await send({ temperature: 1 })
    await expect.poll(refused, PATIENCE).toBeGreaterThan(0)
    await quiet()
    const { alarms } = await host.done<{ alarms: [{ count: number }] }>('GET', '/alarm/alarms?history=false')
    expect(alarms[0].count + (await accepted()) - 1).toBe(BUDGET)
  })

  it('by commands have the same budget', async () => {
    const actuator = { name: 'forwardMessage', version: 'latest', properties: { payload: { again: 1 } } }
    await host.done('POST', '/api/resourcetypes', { id: 'pump', commands: [{ settle: { actuator } }] })
    await host.done('POST', '/api/resources', { id: 'boiler', resourceTypeId: 'pump' })
    const orders = (label: string) => ({ label, name: 'executeCommand', properties: { command: 'settle' } })
    await begin(ruleOf('one', orders('f')))
    await begin(ruleOf('two', orders('g')))
    await send({ temperature: 1 })
    await expect.poll(refused, PATIENCE).toBeGreaterThan(0)
    await quiet()
    expect(await accepted()).toBe(1 + BUDGET)
  })
})
