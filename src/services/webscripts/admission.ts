/** Who may call a private webscript: what a request shows, and whether that is good. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import type { DeployedWebscript } from '../functions/contract.ts'
import type { ShownCredentials } from './contract.ts'

/** Whose that key pair is; undefined when it is wrong. `RATE_LIMITED` after too many tries. */
export type CheckPair = (
  key: string,
  secret: string,
  address: string,
) => Promise<{ readonly tenant: string } | undefined>

export interface AdmissionOptions {
  readonly checkPair: CheckPair
  /** Whether it is a bearer token of this host that counts. */
  readonly isToken: (token: string) => Promise<boolean>
}

/** Of a webscript that is not there: as much work as one that is, so that nobody finds ids by the time it takes. */
const NOBODY = randomBytes(32).toString('base64')

/**
 * Lets a call in, or throws `NOT_FOUND`, `UNAUTHORIZED` (nothing was shown) or `FORBIDDEN`. A public webscript takes
 * everybody. Tells whether the header is not for the webscript: it let the call in, or is a token of the host.
 */
export async function admit(
  script: DeployedWebscript | undefined,
  secrets: readonly string[],
  shown: ShownCredentials,
  { checkPair, isToken }: AdmissionOptions,
): Promise<{ readonly isHeaderOurs: boolean }> {
  const { authorization = '', secret, tokenOf } = shown
  const [, scheme = '', value = ''] = /^(\S{1,20}) +(\S.*)$/.exec(authorization) ?? []
  const given = scheme.toLowerCase() === 'hmac-sha256' ? value : secret
  const expected = secrets.length === 0 ? [NOBODY] : secrets
  const isSecret = given !== undefined && matches(given, expected) && secrets.length > 0
  const isKey = !isSecret && scheme.toLowerCase() === 'basic' && (await isOwnKey(value, shown, script, checkPair))
  if (script === undefined) throw noWebscript()
  if (!script.isPrivate || isSecret || isKey || tokenOf === script.tenant) {
    const isOurs = authorization !== '' && (script.isPrivate || (await isOfHost(authorization, isToken)))
    return { isHeaderOurs: isOurs }
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
  checkPair: CheckPair,
): Promise<boolean> {
  if (script?.isPrivate === false) return false
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  if (colon < 0) return false
  const caller = await checkPair(pair.slice(0, colon), pair.slice(colon + 1), address)
  return caller !== undefined && caller.tenant === script?.tenant
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

/** What asks the API from inside has a token of the host with it, wherever it leads. */
async function isOfHost(authorization: string, isToken: AdmissionOptions['isToken']): Promise<boolean> {
  const [, token] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
  return token !== undefined && (await isToken(token))
}
