import { expect, it } from 'vitest'
import { topicFault, wildcardsOf } from '../../../src/services/converter/topics.ts'

it.each([
  ['gw/+/up', 'gw/7/up', ['7']],
  ['gw/+/up', 'gw//up', ['']],
  ['gw/+/up', 'gw/7/down', undefined],
  ['gw/+/up', 'gw/7', undefined],
  ['gw/+/up', 'gw/7/up/x', undefined],
  ['gw/+/+', 'gw/a/b', ['a', 'b']],
  ['gw/#', 'gw/a/b', ['a/b']],
  ['gw/#', 'gw', ['']],
  ['gw/+/#', 'gw/a', ['a', '']],
  ['gw/up', 'gw/up', []],
])('the filter %s and the topic %s', (filter, topic, wildcards) => {
  expect(wildcardsOf(filter, topic)).toEqual(wildcards)
})

it.each(['gw/+/up', 'a', 'a/b/#', 'a//b'])('%s is a valid filter', (filter) => {
  expect(topicFault(filter)).toBeUndefined()
})

it.each(['', '#', '+/up', 'a/#/b', 'a/b#', 'messages', 'errors', 'resources/x', '$SYS/x', 'a\0'])(
  '%j is not a valid filter for a converter',
  (filter) => {
    expect(topicFault(filter)).toBeTypeOf('string')
  },
)
