import { describe, expect, it } from 'vitest'
import { actsWith } from '../../../src/core/plug/acts-with.ts'
import { definePlug } from '../../../src/core/plug/define.ts'

const minimal = { name: 'door', version: '1.0.0', execute: () => undefined } as const

describe('an outside effect of a call', () => {
  it.each([
    ['an actuator without a declaration', definePlug({ ...minimal, kind: 'actuator' }), true],
    ['a sensor without a declaration', definePlug({ ...minimal, kind: 'sensor' }), false],
    ['an actuator that denies it', definePlug({ ...minimal, kind: 'actuator', acts: false }), false],
    ['a sensor that declares it', definePlug({ ...minimal, kind: 'sensor', acts: true }), true],
  ])('is as declared: %s', (_, plug, acts) => {
    expect(actsWith(plug, {})).toBe(acts)
  })

  it('depends on the properties of each call if declared so', () => {
    const plug = definePlug({
      ...minimal,
      kind: 'sensor',
      input: { open: { type: 'boolean', mandatory: true } },
      acts: ({ open }) => open,
    })
    expect([true, false].map((open) => actsWith(plug, { open }))).toEqual([true, false])
  })
})
