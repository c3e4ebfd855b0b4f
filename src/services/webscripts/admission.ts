/** Authorizes calls of private webscripts. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError, type Caller, hasScope } from '#kernel'
import type { DeployedWebscript } from '#services/functions/contract'
import type { Admitted, ShownCredentials } from './contract.ts'

/** Returns the owner of a key pair; undefined when the pair is wrong. Throws `RATE_LIMITED` after too many attempts. */
export type CheckPair = (
  key: string,
  secret: string,
  address: string,
) => Promise<Pick<Caller, 'tenant' | 'rights'> | undefined>

export interface AdmissionOptions {
  readonly checkPair: CheckPair
  /** True when this host or a token issuer made the token, even if expired, or when that cannot be determined. */
  readonly isToken: (token: string) => Promise<boolean>
}

/** Stands in for the secret of unknown webscripts, so that timing does not reveal which ids exist. */
const UNKNOWN_SECRET = randomBytes(32).toString('base64')

/** Throws `NOT_FOUND`, `UNAUTHORIZED` (no credentials) or `FORBIDDEN`; a public webscript accepts all calls. */
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
    return pair && (await options.checkPair(...pair, address))
  }
  const hasToken = script !== undefined && tokenOf === script.tenant
  if (script?.isPrivate === false) {
    const isToken = kind === 'bearer' && (await options.isToken(value.trim()))
    // when the check itself fails, treat the pair as valid for an unknown owner, so that the webscript does not receive
    // it
    const holder = isToken
      ? ''
      : await ofPair().then(
          (caller) => caller?.tenant,
          () => '',
        )
    return { isHeaderOurs: holder !== undefined, isOwner: hasToken || holder === script.tenant }
  }
  const candidate = kind === 'hmac-sha256' ? value : secret
  const expected = secrets.length === 0 ? [UNKNOWN_SECRET] : secrets
  const isSecret = candidate !== undefined && matches(candidate, expected) && secrets.length > 0
  const holder = isSecret ? undefined : await ofPair()
  if (script === undefined) throw noWebscript()
  const isOwner =
    hasToken ||
    (holder?.tenant === script.tenant && (holder.rights === undefined || hasScope(holder.rights, 'operate')))
  if (isSecret || isOwner) return { isHeaderOurs: authorization !== '', isOwner }
  if (candidate === undefined && authorization === '') {
    throw new AppError('UNAUTHORIZED', 'This webscript is private: send its secret, or a key of its tenant')
  }
  throw new AppError('FORBIDDEN', 'The credentials are not valid for this webscript')
}

export function noWebscript(): AppError {
  return new AppError('NOT_FOUND', 'The webscript does not exist')
}

function pairIn(value: string): readonly [key: string, secret: string] | undefined {
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : [pair.slice(0, colon), pair.slice(colon + 1)]
}

function matches(candidate: string, expected: readonly string[]): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const [asIs, withPlus] = [digest(candidate), digest(candidate.replaceAll(' ', '+'))]
  let isSame = false
  for (const one of expected) {
    const wanted = digest(one)
    const same = timingSafeEqual(asIs, wanted)
    isSame = timingSafeEqual(withPlus, wanted) || same || isSame
  }
  return isSame
}
