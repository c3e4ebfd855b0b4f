import { describe, expect, it } from 'vitest'
import { readsOfMessage } from '../../../src/core/graph/reads-message.ts'
import type { Path } from '../../../src/core/language/placeholders/scope.ts'
import { type PlugDefinition } from '../../../src/index.ts'
import { sensorPlug } from '../../support/make-plug.ts'

type Parameters = PlugDefinition['parameters']

function reads(parameters: Parameters, uses: readonly Path[], declared: 'message' | undefined) {
  const plug = sensorPlug('ahead', ['On'], {
    input: { key: { type: 'string' } },
    ...(declared && { reads: declared }),
    ...(parameters && { parameters }),
    execute: () => 'On',
  })
  return readsOfMessage(plug, { key: 'level' }, uses)
}

const path = (root: Path['root'], ...segments: readonly string[]): Path => ({ root, segments })

describe('a call that depends only on the message', () => {
  it.each<[string, Parameters, readonly Path[], readonly string[]]>([
    ['on no value of it', undefined, [], []],
    ['on what its plug asks for', ['a', 'b'], [], ['a', 'b']],
    ['on what its plug asks for with these properties', ({ key }) => [String(key)], [], ['level']],
    ['on values in its properties', undefined, [path('streamdata', 'a', 'x'), path('streamdata', 'b')], ['a', 'b']],
    ['on both, each once', ['a'], [path('streamdata', 'a'), path('streamdata', 'b')], ['a', 'b']],
    ['task and node stay the same', ['a'], [path('task', 'RESOURCE'), path('node', 'NAME')], ['a']],
  ])('depends %s', (_, parameters, uses, expected) => {
    expect(reads(parameters, uses, 'message')).toEqual(expected)
  })
})

describe('a call that has to wait for its turn', () => {
  it.each<[string, Parameters, readonly Path[], 'message' | undefined]>([
    ['its plug does not say that it reads the message alone', ['a'], [], undefined],
    ['its plug does not declare its reads', () => undefined, [], 'message'],
    ['it reads all values of the message', ['a'], [path('streamdata')], 'message'],
    ...(['nodes', 'variables', 'vault', 'loop'] as const).map(
      (root): [string, Parameters, readonly Path[], 'message'] => [
        `it takes ${root}`,
        ['a'],
        [path(root, 'x')],
        'message',
      ],
    ),
  ])('%s', (_, parameters, uses, declared) => {
    expect(reads(parameters, uses, declared)).toBeUndefined()
  })
})
