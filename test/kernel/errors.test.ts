import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError, ERRORS, describeIssue, messageOf, validationError } from '../../src/kernel/errors.ts'
import type { ErrorCode, Issue } from '../../src/kernel/errors.ts'

const codes = Object.keys(ERRORS) as ErrorCode[]
const issue = (over: Partial<Issue> = {}): Issue => ({
  path: '/sensors/0',
  message: 'label "a" is taken',
  severity: 'ERROR',
  type: 'LABEL',
  ...over,
})

describe('ERRORS', () => {
  it.each(codes)('%s is in capitals, with an HTTP error status and a distinct meaning', (code) => {
    expect(code).toMatch(/^[A-Z]+(?:_[A-Z]+)*$/)
    expect(ERRORS[code].status).toBeGreaterThanOrEqual(400)
    expect(ERRORS[code].status).toBeLessThan(600)
    expect(ERRORS[code].meaning.length).toBeGreaterThan(10)
    expect(codes.filter((other) => ERRORS[other].meaning === ERRORS[code].meaning)).toEqual([code])
  })
})

describe('AppError', () => {
  it.each(codes)('%s has the status of the table', (code) => {
    const error = new AppError(code, 'text')
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'AppError', code, message: 'text', issues: [], status: ERRORS[code].status })
  })

  it('keeps its cause, and has none by default', () => {
    const cause = new Error('below')
    expect(new AppError('NOT_FOUND', 'text', { cause }).cause).toBe(cause)
    expect(Object.hasOwn(new AppError('NOT_FOUND', 'text'), 'cause')).toBe(false)
  })
})

describe('describeIssue', () => {
  it.each([
    [issue(), '/sensors/0: label "a" is taken'],
    [issue({ suggestion: 'choose another' }), '/sensors/0: label "a" is taken; choose another'],
    [issue({ path: '' }), '/: label "a" is taken'],
  ])('%#: is one line', (given, expected) => {
    expect(describeIssue(given)).toBe(expected)
  })
})

describe('validationError', () => {
  it('lists every error, one a line', () => {
    const error = validationError('rule "x"', [issue(), issue({ path: '/sensors/1', suggestion: 'choose another' })])
    expect(error.code).toBe('VALIDATION')
    expect(error.message).toBe(
      'rule "x" has 2 problems:\n  /sensors/0: label "a" is taken\n  /sensors/1: label "a" is taken; choose another',
    )
  })

  it('keeps warnings among its issues but out of its text', () => {
    const error = validationError('rule "x"', [issue(), issue({ severity: 'WARNING', message: 'odd' })])
    expect(error.issues).toHaveLength(2)
    expect(error.message).toMatch(/^rule "x" has 1 problem:\n.*taken$/)
  })
})

describe('messageOf', () => {
  const hostile = {
    toString(): string {
      throw new Error('no text')
    },
  }
  class Silent extends Error {
    override get message(): string {
      throw new Error('no message')
    }
  }

  it.each<[string, unknown, string]>([
    ['an error', new Error('text'), 'text'],
    ['an AppError', new AppError('NOT_FOUND', 'text'), 'text'],
    ['an error without text', new TypeError(), 'TypeError'],
    ['text', 'text', 'text'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object without a prototype', Object.create(null), 'unprintable error'],
    ['an object whose text throws', hostile, 'unprintable error'],
    ['an error whose message throws', new Silent(), 'unprintable error'],
  ])('of %s', (_what, thrown, expected) => {
    expect(messageOf(thrown)).toBe(expected)
  })

  it('returns text for any value', () => {
    fc.assert(fc.property(fc.anything(), (thrown) => typeof messageOf(thrown) === 'string'))
  })
})
