import { describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import type { Plug, PlugKind } from '../../../src/core/plug/plug.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'

function plug(name: string, version: string, kind: PlugKind = 'sensor'): Plug {
  return definePlug({ name, version, kind, execute: () => undefined })
}

describe('createRegistry', () => {
  const registry = createRegistry([
    plug('dice', '1.9.0'),
    plug('dice', '1.10.0'),
    plug('dice', '1.2.0'),
    plug('dice', '3.0.0', 'actuator'),
    plug('log', '1.0.0', 'actuator'),
  ])

  it.each([
    ['the newest by number order without a version', 'sensor', 'dice', undefined, '1.10.0'],
    ['the newest for latest', 'sensor', 'dice', 'latest', '1.10.0'],
    ['an exact version', 'sensor', 'dice', '1.2.0', '1.2.0'],
    ['the plug of the asked kind', 'actuator', 'dice', undefined, '3.0.0'],
    ['nothing for a version that does not exist', 'sensor', 'dice', '1.10', undefined],
    ['nothing for the other kind', 'sensor', 'log', undefined, undefined],
    ['nothing for an unknown name', 'sensor', 'Dice', undefined, undefined],
    ['nothing for a name from a prototype', 'sensor', 'constructor', undefined, undefined],
  ] as const)('finds %s', (_, kind, name, version, expected) => {
    expect(registry.find(kind, name, version)?.version).toBe(expected)
  })

  it('lists all its plugs, in order', () => {
    expect(registry.list().map((one) => `${one.name} ${one.version}`)).toEqual([
      'dice 1.9.0',
      'dice 1.10.0',
      'dice 1.2.0',
      'dice 3.0.0',
      'log 1.0.0',
    ])
  })

  it('keeps its list when the original array changes', () => {
    const plugs = [plug('a', '1.0.0')]
    const own = createRegistry(plugs)
    plugs.push(plug('b', '1.0.0'))
    expect(own.list()).toHaveLength(1)
  })

  it('reports every duplicate plug, and objects that were not made by definePlug', () => {
    const raw = { name: 'raw', version: '1.0.0', kind: 'sensor', execute: () => undefined } as unknown as Plug
    const plugs = [
      plug('a', '1.0.0'),
      plug('a', '1.0.0'),
      plug('b', '2.0.0', 'actuator'),
      plug('b', '2.0.0', 'actuator'),
      raw,
    ]
    expect(() => createRegistry(plugs)).toThrow(
      expect.objectContaining({
        code: 'PLUG',
        message: [
          'the sensor a 1.0.0 is registered twice; keep one or raise its version',
          'the actuator b 2.0.0 is registered twice; keep one or raise its version',
          'the plug at position 4 ("raw") was not made by definePlug',
        ].join('\n'),
      }),
    )
  })
})

describe('resolve', () => {
  const ranged = (version: string, compatible?: string): Plug =>
    definePlug({ name: 'p', version, kind: 'sensor', execute: () => undefined, ...(compatible && { compatible }) })
  const registry = createRegistry([
    ranged('1.0.0', '>=0.1.0 <1.5'),
    ranged('1.2.0', '>=1.1.0 <3'),
    ranged('1.2.1'),
    ranged('4.0.0'),
  ])

  it.each([
    ['the version itself, although a newer one replaces it', '1.0.0', '1.0.0', 'version'],
    ['the newest plug that replaces it', '1.1.5', '1.2.0', 'compatible'],
    ['the only plug that replaces it', '0.3.0', '1.0.0', 'compatible'],
    ['a plug of another major version that replaces it', '2.9.9', '1.2.0', 'compatible'],
    ['the newest of the same major version', '4.7.0', '4.0.0', 'major'],
    ['the newest when none is named', undefined, '4.0.0', 'newest'],
    ['the newest for latest', 'latest', '4.0.0', 'newest'],
  ])('returns %s', (_, version, runs, by) => {
    const resolved = registry.resolve('sensor', 'p', version)
    expect([resolved?.plug.version, resolved?.by]).toEqual([runs, by])
    expect(registry.find('sensor', 'p', version)).toBe(resolved?.plug)
  })

  it.each(['3.0.0', '0.0.9', '1.2', '1', 'v1.2.0', '', '1.2.0-beta', '>=1.0.0'])(
    'returns undefined for %j',
    (version) => {
      expect(registry.resolve('sensor', 'p', version)).toBeUndefined()
    },
  )

  it('returns no plug of the other kind', () => {
    expect(registry.resolve('actuator', 'p', '1.0.0')).toBeUndefined()
  })
})
