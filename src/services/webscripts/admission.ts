/** Who may call a private webscript: what a request shows, and whether that is good. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '#kernel'
import type { DeployedWebscript } from '#services/functions/contract'
import type { Admitted, ShownCredentials } from './contract.ts'

/** Whose that key pair is; undefined when it is wrong. `RATE_LIMITED` after too many tries. */
export type CheckPair = (
  key: string,
  secret: string,
  address: string,
) => Promise<{ readonly tenant: string } | undefined>

export interface AdmissionOptions {
  readonly checkPair: CheckPair
  /** Whether this host or an issuer of its tokens made the token, good or expired; true also when that cannot be found out. */
  readonly isToken: (token: string) => Promise<boolean>
}

/** Of a webscript that is not there: as much work as one that is, so that nobody finds ids by the time it takes. */
const NOBODY = randomBytes(32).toString('base64')

/**
 * Lets a call in, or throws `NOT_FOUND`, `UNAUTHORIZED` (nothing was shown) or `FORBIDDEN`. A public webscript takes
 * every call.
 */
export async function admit(
  script: DeployedWebscript | undefined,
  secrets: readonly string[],
  { authorization = '', secret, tokenOf, address }: ShownCredentials,
  options: AdmissionOptions,
): Promise<Admitted> {
  const [, scheme = '', value = ''] = /^(\S{1,20})\s+(\S.*)$/.exec(authorization) ?? []
  const kind = scheme.toLowerCase()
  const ofPair = async () => {
    const pair = kind === 'basic' ? pairIn(value) : undefined
    return pair && (await options.checkPair(...pair, address))?.tenant
  }
  const hasToken = script !== undefined && tokenOf === script.tenant
  if (script?.isPrivate === false) {
    const isToken = kind === 'bearer' && (await options.isToken(value.trim()))
    // what cannot be checked now counts as a pair of an unknown owner
    const holder = isToken ? '' : await ofPair().catch(() => '')
    return { isHeaderOurs: holder !== undefined, isOwner: hasToken || holder === script.tenant }
  }
  const given = kind === 'hmac-sha256' ? value : secret
  const expected = secrets.length === 0 ? [NOBODY] : secrets
  const isSecret = given !== undefined && matches(given, expected) && secrets.length > 0
  const holder = isSecret ? undefined : await ofPair()
  if (script === undefined) throw noWebscript()
  const isOwner = hasToken || holder === script.tenant
  if (isSecret || isOwner) return { isHeaderOurs: authorization !== '', isOwner }
  if (given === undefined && authorization === '') {
    throw new AppError('UNAUTHORIZED', 'This webscript is private: show its secret, or a key of its tenant')
  }
  throw new AppError('FORBIDDEN', 'What was shown does not open this webscript')
}

export function noWebscript(): AppError {
  return new AppError('NOT_FOUND', 'There is no such webscript')
}

function pairIn(value: string): readonly [key: string, secret: string] | undefined {
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : [pair.slice(0, colon), pair.slice(colon + 1)]
}

/** In the same time whatever they are. */
function matches(given: string, expected: readonly string[]): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const [asIs, withPlus] = [digest(given), digest(given.replaceAll(' ', '+'))]
  let isSame = false
  for (const one of expected) {
    const wanted = digest(one)
    const same = timingSafeEqual(asIs, wanted)
    isSame = timingSafeEqual(withPlus, wanted) || same || isSame
  }
  return isSame
}
