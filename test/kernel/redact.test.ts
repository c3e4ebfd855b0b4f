/** Tests that outputs of programs do not contain their secrets. */
import { expect, it } from 'vitest'
import { redacting } from '../../src/kernel/redact.ts'

it.each<[string, readonly string[], string, string]>([
  ['a value', ['sesame'], 'open sesame, sesame!', 'open ***, ***!'],
  ['several of them', ['sesame', 'barley'], 'sesame and barley', '*** and ***'],
  ['a secret inside another, the longer one first', ['sesame', 'sesame seed'], 'a sesame seed', 'a ***'],
  ['as JSON has it', ['a"b\\c'], JSON.stringify({ key: 'a"b\\c' }), '{"key":"***"}'],
  ['as an address has it', ['a b/c'], 'GET /?key=a%20b%2Fc', 'GET /?key=***'],
  ['the lines of one that has several', ['-----KEY-----\nMIIEvQIBAD'], 'MIIEvQIBAD==', '***=='],
  ['nothing shorter than 4 characters', ['abc'], 'abc', 'abc'],
  ['nothing without secrets', [], 'open sesame', 'open sesame'],
  ['one that no address can hold', ['half \ud800'], 'half \ud800', '***'],
])('masks %s', (_title, secrets, text, told) => {
  expect(redacting(secrets)(text)).toBe(told)
})
