/** Bearer tokens: those that this host makes, and those of an issuer that it trusts. */
import { createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import { AppError } from '#kernel'
import { isTenant } from '../tenant.ts'
import type { CheckedCaller } from './caller.ts'

/** What tokens of this host say of who made them. */
const ISSUER = 'reflexarc'
const FOREIGN_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512']
/** seconds that the clocks of two machines may be apart */
const TOLERANCE = 5

/** An issuer whose tokens are accepted beside our own. */
export interface ForeignIssuer {
  /** where its public keys are: an address of a JWKS */
  readonly jwks: URL
  /** what `iss` must be; undefined: anything */
  readonly issuer?: string
  /** what `aud` must be or hold; undefined: anything */
  readonly audience?: string
  /** the claim that names the tenant */
  readonly tenantClaim: string
}

export interface TokenOrder {
  readonly tenant: string
  /** who it is for, `sub` */
  readonly subject: string
  /** s */
  readonly lifetime: number
}

/** Makes and checks bearer tokens. */
export class Tokens {
  readonly #key: Uint8Array
  readonly #now: () => number
  readonly #foreign: (ForeignIssuer & { keys: ReturnType<typeof createRemoteJWKSet> }) | undefined

  /** `key`: at least 32 secret bytes. `now`: epoch ms. */
  constructor(key: Uint8Array, now: () => number, foreign?: ForeignIssuer) {
    this.#key = key
    this.#now = now
    this.#foreign = foreign && { ...foreign, keys: createRemoteJWKSet(foreign.jwks, { timeoutDuration: 5000 }) }
  }

  /** A token of this host, HS256. */
  issue({ tenant, subject, lifetime }: TokenOrder): Promise<string> {
    const seconds = Math.floor(this.#now() / 1000)
    return new SignJWT({ tenant })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(ISSUER)
      .setSubject(subject)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + lifetime)
      .sign(this.#key)
  }

  /** Who a token is for. `UNAUTHORIZED` with the reason when it is not good. */
  async check(token: string): Promise<CheckedCaller> {
    try {
      return await (isOwn(token) ? this.#checkOwn(token) : this.#checkForeign(token))
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      throw new AppError('UNAUTHORIZED', `The bearer token is not good: ${error.message}`, { cause: error })
    }
  }

  /**
   * Whether this host or its issuer signed the token, good or expired, for whichever tenant and audience. True also when the
   * keys of the issuer cannot be had.
   */
  async isIssued(token: string): Promise<boolean> {
    try {
      await this.check(token)
      return true
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'UNAUTHORIZED') return true
      return AFTER_SIGNATURE.some((kind) => error.cause instanceof kind) || isWithoutKeys(error.cause)
    }
  }

  async #checkOwn(token: string): Promise<CheckedCaller> {
    const { payload } = await jwtVerify(token, this.#key, { ...this.#rules(), algorithms: ['HS256'], issuer: ISSUER })
    return callerOf(payload, 'tenant')
  }

  async #checkForeign(token: string): Promise<CheckedCaller> {
    if (this.#foreign === undefined) {
      throw new AppError(
        'UNAUTHORIZED',
        'The bearer token is not good: this host accepts only tokens of its own (HS256)',
      )
    }
    const { keys, issuer, audience, tenantClaim } = this.#foreign
    const { payload } = await jwtVerify(token, keys, {
      ...this.#rules(),
      algorithms: FOREIGN_ALGORITHMS,
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
    })
    return callerOf(payload, tenantClaim)
  }

  #rules() {
    return { currentDate: new Date(this.#now()), clockTolerance: TOLERANCE, requiredClaims: ['exp', 'sub'] }
  }
}

/** What is found wrong with a token when its signature was good. */
const AFTER_SIGNATURE = [errors.JWTExpired, errors.JWTClaimValidationFailed]

function isWithoutKeys(cause: unknown): boolean {
  // an answer that has no keys has no error of its own
  return cause instanceof errors.JWKSTimeout || (cause instanceof errors.JOSEError && cause.code === 'ERR_JOSE_GENERIC')
}

function isOwn(token: string): boolean {
  try {
    return decodeProtectedHeader(token).alg === 'HS256'
  } catch {
    throw new AppError('UNAUTHORIZED', 'The bearer token is not good: it is no JSON web token')
  }
}

function callerOf(payload: JWTPayload, tenantClaim: string): CheckedCaller {
  const tenant = Object.hasOwn(payload, tenantClaim) ? payload[tenantClaim] : undefined
  if (typeof tenant !== 'string' || !isTenant(tenant)) {
    throw new AppError('FORBIDDEN', `The bearer token names no tenant in its claim "${tenantClaim}"`)
  }
  return { tenant, user: payload.sub ?? '', until: (payload.exp ?? 0) * 1000 }
}
