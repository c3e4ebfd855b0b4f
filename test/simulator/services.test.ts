/** Checks that each service is either simulated or listed here with a reason, so that no new service is forgotten. */
import { fastify } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compose, type ComposedHost } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { SERVED, SERVED_WHERE_NEEDED, STAND_INS } from './world/host-life.ts'
import { SIMULATED } from './services/index.ts'

/** host services without operations in the simulator, and why */
/** services that watch the others */
const WATCHING = ['audit']

const NOT_DRAWN: Readonly<Record<string, string>> = {
  functions: 'are built and run in processes, which no simulated clock governs',
  webscripts: 'run in processes, which no simulated clock governs; in their place are some that subscriptions call',
  models: 'run in processes, which no simulated clock governs',
  calendars: 'keep documents, each written by one commit like those of converters',
  maintenance: 'call alarms and tasks, which are drawn; their tests restart them',
  notification: 'send to servers outside, which no simulated clock governs; their tests kill real hosts',
  assistants: 'keep nothing; their tools call the other services',
  prometheus: 'keeps nothing; it reads series and alarms',
  retention: 'changes what other services keep once an hour; its tests move its clock',
  connectors: 'connect to brokers, which no simulated clock governs; their tests kill real ones',
}

/** routes that simulated services call */
const ASKED = new Set(SIMULATED.flatMap(({ asks = [] }) => asks))

let composed: ComposedHost
/** by service: its routes, such as `GET /api/tasks/:id` */
const routes = new Map<string, readonly string[]>()

beforeAll(async () => {
  composed = await compose(readConfig({ store: 'memory:', empty: true }, {}, [...SERVICES.keys()]), { hashCost: 2 })
  for (const service of composed.services) {
    const app = fastify()
    const own: string[] = []
    app.addHook('onRoute', ({ method, url }) => void own.push(...[method].flat().map((one) => `${one} ${url}`)))
    await app.register(async (scope) => service.routes(scope))
    routes.set(service.name, own)
  }
})
afterAll(() => composed.close())

describe('the services that a host can serve', () => {
  it('each have operations in the simulator, or a reason why not', () => {
    const isDrawn = (name: string): boolean => routes.get(name)?.some((route) => ASKED.has(route)) === true
    const without = [...SERVICES.keys()].filter((name) => !isDrawn(name) && !WATCHING.includes(name))
    expect(without.toSorted()).toEqual(Object.keys(NOT_DRAWN).toSorted())
  })

  it('are served to the simulator when it draws operations of them', () => {
    const drawn = [...SERVICES.keys()].filter((name) => !Object.hasOwn(NOT_DRAWN, name))
    expect([...SERVED, ...SERVED_WHERE_NEEDED].toSorted()).toEqual([...drawn, ...STAND_INS].toSorted())
  })
})

describe('services of the simulator', () => {
  it('ask routes that there are', () => {
    const known = new Set([...routes.values(), 'GET /metrics'].flat())
    expect([...ASKED].filter((route) => !known.has(route))).toEqual([])
  })
})
