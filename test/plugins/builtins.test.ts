import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtins, createBuiltins } from '../../plugins/index.ts'
import type { Plug } from '../../src/core/plug/plug.ts'
import { plugOfNode } from '../../src/core/plug/plug-of-node.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const transport = {
  resolve: async () => ['93.184.216.34'],
  send: async () => ({ status: 200, statusText: 'OK', body: '' }),
}
const named = createBuiltins({ services: plugServices(), outbound: { transport } }).map(
  (plug) => [`${plug.kind} ${plug.name}`, plug] as const,
)

/** Examples of a plug's properties, as in its documentation. */
function examples(plug: Plug): Record<string, unknown> {
  return Object.fromEntries(Object.entries(plug.input).map(([name, field]) => [name, field.example]))
}

/** `alwaysONWithOFF` as `always-on-with-off`. */
function kebab(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
}

describe('the built-in plugs', () => {
  it('have the same declarations in every engine, and call the services of their own engine', () => {
    const [one, other] = [plugServices(), plugServices()].map((services) =>
      createRegistry(createBuiltins({ services })),
    )
    for (const { kind, name, version } of builtins) {
      const [mine, theirs] = [one, other].map((registry) => registry?.find(kind, name, version))
      expect(mine?.input, name).toBe(theirs?.input)
      expect(mine?.output, name).toBe(theirs?.output)
      expect(mine?.states, name).toBe(theirs?.states)
    }
    const [mine, theirs] = [one, other].map((registry) => registry?.find('sensor', 'getMetricValue'))
    expect(mine?.execute).not.toBe(theirs?.execute)
    expect(Object.isFrozen(mine)).toBe(true)
  })

  it('fit into one registry', () => {
    expect(createRegistry(builtins).list()).toHaveLength(builtins.length)
  })

  it('are in folders of their name or family, and every folder except the windows contains some', () => {
    const folders = readdirSync(new URL('../../plugins', import.meta.url), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'window')
      .map((entry) => entry.name)
    const family = (name: string): string =>
      /^(?:datetime|getWeekDay|is(?:Date|Hour|Month|Weekday|Weekend))$/.test(name)
        ? 'calendar'
        : /^(?:forward|store)Message$/.test(name)
          ? 'message'
          : kebab(name)
    expect(folders.toSorted()).toEqual([...new Set(builtins.map((plug) => family(plug.name)))].toSorted())
  })

  it.each(named)('%s is documented: itself, every property with an example, and every field', (_, plug) => {
    expect(plug.description).toMatch(/\.$/)
    expect(plug.category).toBeTruthy()
    for (const field of Object.values(plug.input)) {
      expect(field.description).toBeTruthy()
      expect(field.example).toBeDefined()
    }
    for (const field of Object.values(plug.output)) expect(field.description).toBeTruthy()
  })

  it.each(named)('%s runs on its own examples and returns what it declares', async (_, plug) => {
    const properties = examples(plug)
    expect(checkPlug(plug, properties)).toEqual([])
    const ran = await runPlugLater(plug, { properties, message: { temperature: 21 } })
    // plugs that observe events have no state for a message
    const heard = plug.channel === undefined ? [] : [undefined]
    expect(plug.kind === 'sensor' ? [...plugOfNode(plug, properties).states, ...heard] : [undefined]).toContain(
      ran.state,
    )
    if (!plug.openOutput)
      expect(Object.keys(plug.output)).toEqual(expect.arrayContaining(Object.keys(ran.rawData ?? {})))
  })
})

describe('the built-in plugs of a host', () => {
  const named = (plugs: readonly Plug[], name: string): Plug => {
    const plug = plugs.find((one) => one.name === name)
    if (plug === undefined) throw new Error(`no ${name}`)
    return plug
  }

  it.each([
    ['script', { script: 'for (;;);' }],
    ['condition', { condition: 'for (;;); return true' }],
    ['transformer', { transformer: 'for (;;); return {}' }],
    ['Function', { formula: 'for (;;); return 1', threshold: 1 }],
  ])('%s ends when the clock of the host reaches its time', async (name, properties) => {
    let asked = 0
    const plug = named(createBuiltins({ clock: () => 600 * asked++ }), name)
    const ended = await runPlugLater(plug, { properties }).catch((error: unknown) => error)
    expect(JSON.stringify(ended) + String(ended)).toContain('too many steps')
    expect(asked).toBeGreaterThan(1)
    expect(asked).toBeLessThan(6)
  })

  it('name the missing service if the host provides none', async () => {
    const missing = createBuiltins().map(async (plug) => {
      const call = { properties: examples(plug), message: { temperature: 21 }, taskResource: 'r' }
      const ran: unknown = await runPlugLater(plug, call).catch(String)
      return /the service (\w+) is missing in this engine/.exec(JSON.stringify(ran))?.[1] ?? 'nothing'
    })
    const counts: Record<string, number> = {}
    for (const service of await Promise.all(missing)) counts[service] = (counts[service] ?? 0) + 1
    expect(counts).toMatchObject({
      alarms: 14,
      data: 11,
      models: 2,
      objects: 3,
      queries: 1,
      resources: 5,
      webscripts: 2,
    })
  })

  it('equal those of the library, with other ports', () => {
    expect(createBuiltins().map(({ kind, name, version }) => [kind, name, version])).toEqual(
      builtins.map(({ kind, name, version }) => [kind, name, version]),
    )
  })

  it('call through the egress that the host provides, to private names that it allows', async () => {
    const transport = {
      allow: ['inside.example'],
      resolve: async () => ['10.0.0.7'],
      send: async () => ({ status: 204, statusText: '', body: '' }),
    }
    const callURL = named(createBuiltins({ outbound: { transport } }), 'callURL')
    const call = (url: string) => runPlugLater(callURL, { properties: { method: 'GET', url } })
    expect((await call('http://inside.example/')).state).toBe('Success')
    expect((await call('http://other.example/')).state).toBe('Error')
  })
})
