import { describe, expect, it } from 'vitest'
import { log } from '../../plugins/log/plug.ts'
import { runPlug } from '../support/plug-context.ts'

describe('log', () => {
  it.each([
    [{ message: 'hi' }, 'INFO hi'],
    [{ message: 'hi', level: 'DEBUG' }, 'DEBUG hi'],
    [{ message: 'hi', level: 'INFO' }, 'INFO hi'],
    [{ message: 'hi', level: 'WARN' }, 'WARN hi'],
    [{ message: 'hi', level: 'ERROR' }, 'ERROR hi'],
  ])('with %j writes "%s" and returns the message', (properties, line) => {
    expect(runPlug(log, { properties })).toMatchObject({ message: 'hi', state: undefined, log: [line] })
  })

  it('rejects an unknown level', () => {
    expect(() => runPlug(log, { properties: { message: 'hi', level: 'loud' } })).toThrow(
      'one of DEBUG, INFO, WARN, ERROR',
    )
  })
})
