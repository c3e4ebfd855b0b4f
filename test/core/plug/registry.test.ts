import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import type { Plug, PlugKind } from '../../../src/core/plug/plug.ts'
import { compareVersions, createRegistry } from '../../../src/core/plug/registry.ts'

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
    ['nothing for a version that is not there', 'sensor', 'dice', '1.10', undefined],
    ['nothing for the other kind', 'sensor', 'log', undefined, undefined],
    ['nothing for an unknown name', 'sensor', 'Dice', undefined, undefined],
    ['nothing for a name from a prototype', 'sensor', 'constructor', undefined, undefined],
  ] as const)('finds %s', (_, kind, name, version, expected) => {
    expect(registry.find(kind, name, version)?.version).toBe(expected)
  })

  it('lists everything it was given, in order', () => {
    expect(registry.list().map((one) => `${one.name} ${one.version}`)).toEqual([
      'dice 1.9.0',
      'dice 1.10.0',
      'dice 1.2.0',
      'dice 3.0.0',
      'log 1.0.0',
    ])
  })

  it('keeps its list when the array it was given changes', () => {
    const plugs = [plug('a', '1.0.0')]
    const own = createRegistry(plugs)
    plugs.push(plug('b', '1.0.0'))
    expect(own.list()).toHaveLength(1)
  })

  it('names every plug that is given twice, and what was not made by definePlug', () => {
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
          'the sensor a 1.0.0 is given twice; keep one or raise its version',
          'the actuator b 2.0.0 is given twice; keep one or raise its version',
          'the plug at position 4 ("raw") was not made by definePlug',
        ].join('\n'),
      }),
    )
  })
})

describe('compareVersions', () => {
  const part = fc.nat(1200)
  const version = fc.tuple(part, part, part)

  it('orders as the three numbers do, one after the other', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        const expected = a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
        expect(Math.sign(compareVersions(a.join('.'), b.join('.')))).toBe(Math.sign(expected))
      }),
    )
  })
})
