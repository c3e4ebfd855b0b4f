import { describe, expect, it } from 'vitest'
import { secretName, withSecrets } from '../../../src/core/engine/secret-names.ts'
import type { BindingUse } from '../../../src/core/language/placeholders/binding.ts'

const use = (key: string, optional = false): BindingUse => ({
  text: `\${vault.${key}}`,
  root: 'vault',
  segments: [key],
  optional,
  pointer: '/x',
})
const SECRETS = new Map<string, unknown>([
  ['TOKEN', 's3cret'],
  ['PORT', 8080],
])

describe('a secret in stored properties', () => {
  it.each([
    ['alone keeps its type', { x: secretName('PORT') }, { x: 8080 }],
    [
      'in a text is inserted at its place, each time',
      { x: `a${secretName('TOKEN')}b${secretName('PORT')}` },
      { x: 'as3cretb8080' },
    ],
    ['is found in lists and objects', { x: [{ y: secretName('TOKEN') }] }, { x: [{ y: 's3cret' }] }],
    ['leaves everything else as it is', { x: 1, y: null, z: ['a'] }, { x: 1, y: null, z: ['a'] }],
  ])('%s', (_fact, properties, expected) => {
    expect(withSecrets(properties, SECRETS, [use('TOKEN'), use('PORT')])).toEqual(expected)
  })

  it('that is missing fails the attempt, with a remedy', () => {
    expect(() => withSecrets({ x: secretName('KEY') }, SECRETS, [use('KEY')])).toThrow(
      'secret "KEY" does not exist; store it, or make it optional: ${?vault.KEY}',
    )
  })

  it('that is missing and optional is omitted', () => {
    const given = { x: secretName('KEY'), y: `-${secretName('KEY')}-` }
    expect(withSecrets(given, SECRETS, [use('KEY', true)])).toEqual({ y: '--' })
  })
})
