import { describe, expect, it } from 'vitest'
import { invokeCount } from '../../plugins/invoke-count/plug.ts'
import { runPlug } from '../support/plug-context.ts'

describe('invokeCount', () => {
  it('applies a reset once', () => {
    const call = { internalState: 4, message: { reset: true }, messageTime: 0, now: 1 }
    expect(runPlug(invokeCount, call)).toMatchObject({ state: 'Incremented', rawData: { count: 5 } })
  })

  it.each([
    ['the first run counts 1', undefined, {}, 'Incremented', 1],
    ['a later run counts on', 4, {}, 'Incremented', 5],
    ['a reset starts again', 4, { reset: true }, 'Idle', 0],
    ['a reset may be a number', 4, { reset: 1 }, 'Idle', 0],
    ['a reset may be text', 4, { reset: 'true' }, 'Idle', 0],
    ['a reset of false is ignored', 4, { reset: false }, 'Incremented', 5],
    ['a reset of "false" is ignored', 4, { reset: 'false' }, 'Incremented', 5],
    ['a reset of "0" is ignored', 4, { reset: '0' }, 'Incremented', 5],
    ['a reset of null is ignored', 4, { reset: null }, 'Incremented', 5],
    ['after a reset it counts from 1', 0, {}, 'Incremented', 1],
  ])('%s', (_, internalState, message, state, count) => {
    const ran = runPlug(invokeCount, { internalState, message })
    expect(ran).toMatchObject({ state, rawData: { count }, internalState: count })
  })
})
