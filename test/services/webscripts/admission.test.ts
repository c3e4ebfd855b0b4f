import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import type { DeployedWebscript } from '../../../src/services/functions/contract.ts'
import { admit } from '../../../src/services/webscripts/admission.ts'
import type { ShownCredentials } from '../../../src/services/webscripts/contract.ts'

const SECRET = 'a+b/c+d=='
const script: DeployedWebscript = {
  id: '0',
  tenant: 'acme',
  name: 'greet',
  version: '1.0.0',
  draft: false,
  deprecated: false,
  status: 'running',
  isRunning: true,
  isPrivate: true,
  secret: SECRET,
}
const pair = (key: string): string => `Basic ${Buffer.from(`${key}:s`).toString('base64')}`

async function codeOf(
  one: DeployedWebscript | undefined,
  secrets: readonly string[],
  shown: Partial<ShownCredentials>,
): Promise<{ readonly code: string; readonly asked: readonly string[] }> {
  const asked: string[] = []
  const checkPair = async (key: string) => {
    asked.push(key)
    return key === 'wrong' ? undefined : { tenant: key }
  }
  const all = { authorization: undefined, secret: undefined, address: '::1', ...shown }
  try {
    await admit(one, secrets, all, { checkPair, isToken: async () => false })
    return { code: 'in', asked }
  } catch (error) {
    return { code: error instanceof AppError ? error.code : String(error), asked }
  }
}

// Holds WEBSCRIPT-1
describe('a private webscript', () => {
  it.each<[string, Partial<ShownCredentials>, string]>([
    ['nothing', {}, 'UNAUTHORIZED'],
    ['its secret in the header', { authorization: `hmac-sha256 ${SECRET}` }, 'in'],
    ['its secret in the query', { secret: SECRET }, 'in'],
    ['its secret with blanks for plus signs', { secret: SECRET.replaceAll('+', ' ') }, 'in'],
    ['another secret', { secret: 'x' }, 'FORBIDDEN'],
    ['an empty secret', { secret: '' }, 'FORBIDDEN'],
    ['its secret as a token', { authorization: `Bearer ${SECRET}` }, 'FORBIDDEN'],
    ['a key of its tenant', { authorization: pair('acme') }, 'in'],
    ['a key of another tenant', { authorization: pair('umbrella') }, 'FORBIDDEN'],
    ['a wrong key', { authorization: pair('wrong') }, 'FORBIDDEN'],
    ['no pair', { authorization: 'Basic eA==' }, 'FORBIDDEN'],
    ['a token of its tenant', { authorization: 'Bearer t', tokenOf: 'acme' }, 'in'],
    ['a token of another tenant', { authorization: 'Bearer t', tokenOf: 'umbrella' }, 'FORBIDDEN'],
    ['a header without credentials', { authorization: 'x' }, 'FORBIDDEN'],
  ])('for %s', async (_, shown, code) => {
    expect((await codeOf(script, [SECRET], shown)).code).toBe(code)
  })

  it('without secrets rejects every secret, also an empty one', async () => {
    for (const secret of ['', 'undefined', 'null', SECRET]) {
      expect((await codeOf(script, [], { secret })).code, secret).toBe('FORBIDDEN')
    }
  })

  it('that does not exist costs the same checks, and is not found', async () => {
    for (const shown of [{}, { secret: SECRET }, { authorization: pair('acme') }]) {
      const [there, nowhere] = [await codeOf(script, [SECRET], shown), await codeOf(undefined, [], shown)]
      expect(nowhere.code).toBe('NOT_FOUND')
      expect(nowhere.asked).toEqual(there.asked)
    }
  })
})

describe('a public webscript', () => {
  const open = { ...script, isPrivate: false }

  it('accepts every call, and checks a key only if one is sent', async () => {
    for (const shown of [{}, { secret: 'x' }, { authorization: `hmac-sha256 ${SECRET}` }]) {
      expect(await codeOf(open, [SECRET], shown)).toEqual({ code: 'in', asked: [] })
    }
    expect((await codeOf(open, [SECRET], { authorization: pair('wrong') })).code).toBe('in')
  })

  // Holds WEBSCRIPT-3
  it.each<[string, string, boolean, boolean?]>([
    ['a pair of its tenant', pair('acme'), true, true],
    ['a pair of another tenant', pair('umbrella'), true],
    ['a pair, however it is written', pair('acme').replace('Basic ', 'BASIC\t  '), true, true],
    ['a pair that cannot be checked now', pair('busy'), true],
    ['a token of the host', 'Bearer of-the-host', true],
    ['a pair of another system', pair('wrong'), false],
    ['a malformed pair', 'Basic eA==', false],
    ['a token of another system', 'Bearer foreign', false],
    ['a secret of a webscript', `hmac-sha256 ${SECRET}`, false],
    ['another scheme', 'Digest username="acme"', false],
  ])('called with %s, %s: withheld from the webscript: %s', async (_, authorization, isHeaderOurs, isOwner = false) => {
    const shown = { authorization, address: '::1' }
    const checkPair = async (key: string) => {
      if (key === 'busy') throw new AppError('RATE_LIMITED', 'too many')
      return key === 'wrong' ? undefined : { tenant: key }
    }
    const isToken = async (token: string) => token === 'of-the-host'
    expect(await admit(open, [SECRET], shown, { checkPair, isToken })).toEqual({ isHeaderOurs, isOwner })
  })
})
