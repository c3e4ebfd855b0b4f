import { describe, expect, it } from 'vitest'
import { stream } from '../../plugins/stream/plug.ts'
import { runPlug } from '../support/plug-context.ts'

const message = { temperature: 21, humidity: 60 }

describe('stream', () => {
  it.each([
    ['of the node', { nodeResource: 'boiler-1', taskResource: 'house' }, { stream: message, id: 'boiler-1' }],
    ['of the task', { taskResource: 'house' }, { stream: message, id: 'house' }],
    ['of neither', {}, { stream: message }],
  ])('returns the message and the resource %s', (_, resources, rawData) => {
    const ran = runPlug(stream, { message, ...resources })
    expect(ran.state).toBe('Data')
    expect(ran.rawData).toStrictEqual(rawData)
  })

  it('fails without stream data', () => {
    expect(() => runPlug(stream)).toThrow(expect.objectContaining({ code: 'PLUG_FAILED' }))
  })
})
