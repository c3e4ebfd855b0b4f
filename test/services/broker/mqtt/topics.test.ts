import { describe, expect, it } from 'vitest'
import { publishTopic, subscribeTopic, topicOf } from '../../../../src/services/broker/mqtt/topics.ts'

describe('a topic to publish on', () => {
  it.each([
    ['resources/boiler-1/events', { kind: 'resource', resource: 'boiler-1', channel: 'events' }],
    ['resources/boiler-1/commands', { kind: 'resource', resource: 'boiler-1', channel: 'commands' }],
    ['resources/a/b/events', { kind: 'resource', resource: 'a/b', channel: 'events' }],
    ['resources/ü ö/events', { kind: 'resource', resource: 'ü ö', channel: 'events' }],
    ['resources/events/events', { kind: 'resource', resource: 'events', channel: 'events' }],
    ['messages', { kind: 'messages' }],
    ['resources/a', undefined],
    ['resources//events', undefined],
    ['resources/a/other', undefined],
    ['resources/+/events', undefined],
    ['resources/a#/events', undefined],
    ['$SYS/events', undefined],
    ['', undefined],
  ])('%j', (topic, expected) => {
    expect(publishTopic(topic)).toEqual(expected)
  })
})

describe('a filter', () => {
  const fitting = (filter: string, topic: string): boolean | undefined => {
    const read = subscribeTopic(filter)
    return read?.kind === 'many' ? read.fits(topic) : undefined
  }

  it.each([
    ['resources/+/events', 'resources/a/events', true],
    ['resources/+/events', 'resources/a/b/events', false],
    ['resources/+/+/events', 'resources/a/b/events', true],
    ['resources/#', 'resources/a/b/events', true],
    ['#', 'resources/a/events', true],
    ['+/a/events', 'resources/a/events', true],
    ['+/a/events', 'resources/b/events', false],
  ])('%j and %j: %j', (filter, topic, expected) => {
    expect(fitting(filter, topic)).toBe(expected)
  })

  it.each([
    'resources/+/commands',
    'resources/a+/events',
    'resources/#/events',
    'other/#',
    'other',
    'a'.repeat(9),
    'x/'.repeat(70) + '#',
  ])('that can never match is rejected: %j', (filter) => {
    expect(subscribeTopic(filter)).toBeUndefined()
  })

  it('without wildcards names one channel', () => {
    expect(subscribeTopic('resources/a/commands')).toEqual({ kind: 'resource', resource: 'a', channel: 'commands' })
    expect(subscribeTopic('errors')).toEqual({ kind: 'errors' })
  })
})

it('an id that no topic can have has none', () => {
  expect(topicOf('a/b', 'events')).toBe('resources/a/b/events')
  expect(topicOf('a+b', 'events')).toBeUndefined()
})
