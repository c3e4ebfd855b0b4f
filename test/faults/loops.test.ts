/** Rules that set each other off: one message may make a bounded number of others, and clients are served meanwhile. */
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { basic } from '../host/sample-host.ts'

const headers = { authorization: basic('a', 's') }
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

class Host {
  readonly log: string[]
  readonly #app: FastifyInstance

  private constructor(app: FastifyInstance, log: string[]) {
    this.#app = app
    this.log = log
  }

  static async open(): Promise<Host> {
    const given = { store: 'memory:', empty: true, rateLimit: '0', maxDescendants: BUDGET }
    const composed = await compose(readConfig(given, {}, [...SERVICES.keys()]), { hashCost: 2 })
    await composed.keyPairs.add({ key: 'a', secret: 's', tenant: 'acme' })
    const log: string[] = []
    const stream = { write: (line: string) => void log.push(line) }
    return new Host(await createApp({ ...composed, log: { level: 'warn', stream } }), log)
  }

  async ask(method: 'GET' | 'POST', url: string, payload?: object): Promise<Record<string, unknown>> {
    const answer = await this.#app.inject({ method, url, headers, ...(payload && { payload }) })
    if (answer.statusCode >= 300) throw new Error(`${url} was answered with ${answer.body}`)
    return answer.json()
  }

  async begin(rule: object): Promise<string> {
    const { ID, id } = await this.ask('POST', '/api/tasks', rule)
    return String(ID ?? id)
  }

  /** The figure of that name; 0 without one. */
  async figure(name: string): Promise<number> {
    const { body } = await this.#app.inject({ url: '/metrics' })
    const line = body.split('\n').find((one) => one.startsWith(`${name} `))
    return Number(line?.split(' ').at(-1) ?? 0)
  }

  refused(): Promise<number> {
    return this.figure('reflexarc_things_total{thing="refused-descendants"}')
  }

  accepted(): Promise<number> {
    return this.figure('reflexarc_things_total{thing="broker-accepted"}')
  }

  /** Resolves when nothing happens any more. */
  async quiet(): Promise<void> {
    for (let before = -1, same = 0; same < 20;) {
      await turn()
      const now = (await this.accepted()) + (await this.refused()) + (await this.figure('reflexarc_steps_total'))
      same = now === before ? same + 1 : 0
      before = now
    }
  }

  close(): Promise<void> {
    return this.#app.close()
  }
}

let host: Host | undefined
afterEach(() => host?.close())

describe('two rules that forward what they hear to the resource that they hear it of', () => {
  it('make no more of one message than the budget, and are named by the log, once, by /health, and by the deliveries that are dead of it', async () => {
    host = await Host.open()
    const ids = [await host.begin(ruleOf('one', forwards('f'))), await host.begin(ruleOf('two', forwards('g')))]
    await host.ask('POST', '/resources/boiler/events', { temperature: 1 })
    await expect.poll(() => host?.refused(), PATIENCE).toBeGreaterThan(BUDGET)
    await host.quiet()
    expect(await host.accepted()).toBe(1 + BUDGET)
    // each of those that were made is taken by two rules, and the root too
    expect(await host.refused()).toBe(2 * (1 + BUDGET) - BUDGET)
    const lines = host.log.filter((line) => line.includes('set each other off') && !line.includes('a delivery failed'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('over resource boiler')
    const { status, warnings } = await host.ask('GET', '/health')
    expect(status).toBe('ok')
    expect(warnings).toHaveLength(1)
    for (const [i, label] of ['f', 'g'].entries()) expect(String(warnings)).toContain(`${label} of task ${ids[i]}`)
    const dead = await host.ask('GET', `/api/tasks/${ids[0]}/deliveries?status=dead&limit=1`)
    expect(JSON.stringify(dead)).toContain(`${BUDGET} messages, commands and alarms came of one arrival already`)
  })

  it('leave the next message a budget of its own', async () => {
    host = await Host.open()
    await host.begin(ruleOf('one', forwards('f')))
    await host.begin(ruleOf('two', forwards('g')))
    const ask = host.ask.bind(host)
    await Promise.all(Array.from({ length: 5 }, (_, n) => ask('POST', '/resources/boiler/events', { n })))
    await host.quiet()
    expect(await host.accepted()).toBe(5 * (1 + BUDGET))
  })
})

describe('rules that set each other off otherwise', () => {
  it('by alarms have the same budget, over the alarm and messages together', async () => {
    host = await Host.open()
    const heard = { name: 'AlarmEventSensor' }
    const raises = (label: string) => ({ label, name: 'createAlarm', properties: { type: 'HOT' } })
    await host.begin(ruleOf('one', raises('f'), heard))
    await host.begin(ruleOf('two', raises('g'), heard))
    await host.begin(ruleOf('three', forwards('h'), heard))
    await host.begin(ruleOf('begin', raises('first')))
    await host.ask('POST', '/resources/boiler/events', { temperature: 1 })
    await expect.poll(() => host?.refused(), PATIENCE).toBeGreaterThan(0)
    await host.quiet()
    const { alarms } = await host.ask('GET', '/alarm/alarms?history=false')
    const [{ count } = { count: 0 }] = alarms as readonly { readonly count: number }[]
    expect(count + (await host.accepted()) - 1).toBe(BUDGET)
  })

  it('by commands have the same budget', async () => {
    host = await Host.open()
    const actuator = { name: 'forwardMessage', version: 'latest', properties: { payload: { again: 1 } } }
    await host.ask('POST', '/api/resourcetypes', { id: 'pump', commands: [{ settle: { actuator } }] })
    await host.ask('POST', '/api/resources', { id: 'boiler', resourceTypeId: 'pump' })
    const orders = (label: string) => ({ label, name: 'executeCommand', properties: { command: 'settle' } })
    await host.begin(ruleOf('one', orders('f')))
    await host.begin(ruleOf('two', orders('g')))
    await host.ask('POST', '/resources/boiler/events', { temperature: 1 })
    await expect.poll(() => host?.refused(), PATIENCE).toBeGreaterThan(0)
    await host.quiet()
    expect(await host.accepted()).toBe(1 + BUDGET)
  })
})
