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
  shown: ShownCredentials,
  options: AdmissionOptions,
): Promise<Admitted> {
  const { authorization = '', secret, tokenOf } = shown
  const [, scheme = '', value = ''] = /^(\S{1,20}) +(\S.*)$/.exec(authorization) ?? []
  const given = scheme.toLowerCase() === 'hmac-sha256' ? value : secret
  const expected = secrets.length === 0 ? [NOBODY] : secrets
  const isSecret = given !== undefined && matches(given, expected) && secrets.length > 0
  const isKey = !isSecret && scheme.toLowerCase() === 'basic' && (await isOwnKey(value, shown, script, options))
  if (script === undefined) throw noWebscript()
  if (!script.isPrivate || isSecret || isKey || tokenOf === script.tenant) {
    const isOwner = isKey || tokenOf === script.tenant
    if (authorization === '' || script.isPrivate) return { isHeaderOurs: authorization !== '', isOwner }
    const holder = await holderOf(shown, options)
    return { isHeaderOurs: holder !== undefined, isOwner: isOwner || holder === script.tenant }
  }
  if (given === undefined && authorization === '') {
    throw new AppError('UNAUTHORIZED', 'This webscript is private: show its secret, or a key of its tenant')
  }
  throw new AppError('FORBIDDEN', 'What was shown does not open this webscript')
}

export function noWebscript(): AppError {
  return new AppError('NOT_FOUND', 'There is no such webscript')
}

async function isOwnKey(
  value: string,
  { address }: ShownCredentials,
  script: DeployedWebscript | undefined,
  { checkPair }: AdmissionOptions,
): Promise<boolean> {
  if (script?.isPrivate === false) return false
  const pair = pairIn(value)
  const caller = pair && (await checkPair(...pair, address))
  return caller !== undefined && caller.tenant === script?.tenant
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

/**
 * The tenant whose key pair the header is, or '' for a token of this host: browsers attach such a pair to every path of
 * an origin, and a client of the API may send it to any webscript. What cannot be checked now counts as one, of nobody
 * known. Undefined for anything else.
 */
async function holderOf(
  { authorization = '', address }: ShownCredentials,
  { checkPair, isToken }: AdmissionOptions,
): Promise<string | undefined> {
  const [, scheme = '', value = ''] = /^(basic|bearer)\s+(\S.*)$/i.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'bearer') return (await isToken(value.trim())) ? '' : undefined
  const pair = scheme === '' ? undefined : pairIn(value)
  if (pair === undefined) return undefined
  try {
    return (await checkPair(...pair, address))?.tenant
  } catch {
    return ''
  }
}
