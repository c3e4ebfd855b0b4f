/** Issues and checks bearer tokens of this host, and checks those of a trusted issuer. */
import { subtle, type webcrypto } from 'node:crypto'
import { createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import { ALL_RIGHTS, AppError, type Rights, type Scope } from '#kernel'
import { isTenant } from '../tenant.ts'
import type { CheckedCaller } from './caller.ts'

const ISSUER = 'reflexarc'
const FOREIGN_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512']
/** Tolerated clock difference, in seconds */
const TOLERANCE = 5

/** External issuer whose tokens are accepted in addition to the host's own. */
export interface ForeignIssuer {
  readonly jwks: URL
  /** Required `iss`; undefined: any */
  readonly issuer?: string
  /** Required `aud`; undefined: any */
  readonly audience?: string
  readonly tenantClaim: string
  /** Claim that names the groups of the caller, as a text or a list; undefined: each token has all rights */
  readonly roleClaim?: string
  /** Scopes by group; a group with the name of a scope has it */
  readonly roles: ReadonlyMap<string, readonly Scope[]>
}

export interface TokenOrder {
  readonly tenant: string
  readonly subject: string
  readonly lifetime: number
  /** default: all rights */
  readonly rights?: Rights
}

export class Tokens {
  /** imported once: each import costs more than a check */
  readonly #key: Promise<webcrypto.CryptoKey>
  readonly #now: () => number
  readonly #foreign: (ForeignIssuer & { keys: ReturnType<typeof createRemoteJWKSet> }) | undefined

  /** `key`: at least 32 secret bytes. `now`: epoch ms. */
  constructor(key: Uint8Array, now: () => number, foreign?: ForeignIssuer) {
    const hmac = { name: 'HMAC', hash: 'SHA-256' }
    this.#key = subtle.importKey('raw', Uint8Array.from(key), hmac, false, ['sign', 'verify'])
    this.#now = now
    this.#foreign = foreign && { ...foreign, keys: createRemoteJWKSet(foreign.jwks, { timeoutDuration: 5000 }) }
  }

  async issue({ tenant, subject, lifetime, rights }: TokenOrder): Promise<string> {
    const seconds = Math.floor(this.#now() / 1000)
    return new SignJWT({ tenant, ...(rights && { rights }) })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(ISSUER)
      .setSubject(subject)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + lifetime)
      .sign(await this.#key)
  }

  async check(token: string): Promise<CheckedCaller> {
    try {
      const caller = await (isOwn(token) ? this.#checkOwn(token) : this.#checkForeign(token))
      return { ...caller, ends: caller.until }
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      throw new AppError('UNAUTHORIZED', `The bearer token is invalid: ${error.message}`, { cause: error })
    }
  }

  /**
   * Whether this host or its issuer signed the token, expired or not; also true when the issuer's keys are unavailable.
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

  /** Checks the identity token of a sign-in. Throws as `check` does. */
  async checkIdentity(token: string, expected: { readonly audience: string; readonly nonce: string }) {
    try {
      return await this.#checkForeign(token, expected)
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      throw new AppError('UNAUTHORIZED', `The identity token is invalid: ${error.message}`, { cause: error })
    }
  }

  async #checkOwn(token: string): Promise<CheckedCaller> {
    const { payload } = await jwtVerify(token, await this.#key, {
      ...this.#rules(),
      algorithms: ['HS256'],
      issuer: ISSUER,
    })
    // signed by this host, so that the claim is what was issued
    return callerOf(payload, 'tenant', (payload['rights'] as Rights | undefined) ?? ALL_RIGHTS)
  }

  async #checkForeign(
    token: string,
    identity?: { readonly audience: string; readonly nonce: string },
  ): Promise<CheckedCaller> {
    if (this.#foreign === undefined) {
      throw new AppError('UNAUTHORIZED', 'The bearer token is invalid: this host accepts only its own tokens (HS256)')
    }
    const { keys, issuer, tenantClaim, roleClaim, roles } = this.#foreign
    const { audience = this.#foreign.audience, nonce } = identity ?? {}
    const { payload } = await jwtVerify(token, keys, {
      ...this.#rules(),
      algorithms: FOREIGN_ALGORITHMS,
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
    })
    if (nonce !== undefined && payload['nonce'] !== nonce) {
      throw new AppError('UNAUTHORIZED', 'The identity token is invalid: it belongs to another login')
    }
    const rights = roleClaim === undefined ? ALL_RIGHTS : rightsIn(payload, roleClaim, roles)
    return callerOf(payload, tenantClaim, rights)
  }

  #rules() {
    return { currentDate: new Date(this.#now()), clockTolerance: TOLERANCE, requiredClaims: ['exp', 'sub'] }
  }
}

const AFTER_SIGNATURE = [errors.JWTExpired, errors.JWTClaimValidationFailed]

function isWithoutKeys(cause: unknown): boolean {
  return cause instanceof errors.JWKSTimeout || (cause instanceof errors.JOSEError && cause.code === 'ERR_JOSE_GENERIC')
}

function isOwn(token: string): boolean {
  try {
    return decodeProtectedHeader(token).alg === 'HS256'
  } catch {
    throw new AppError('UNAUTHORIZED', 'The bearer token is invalid: it is not a JSON web token')
  }
}

function rightsIn(payload: JWTPayload, claim: string, roles: ForeignIssuer['roles']): Rights {
  const groups = [Object.hasOwn(payload, claim) ? payload[claim] : []].flat()
  const scopes = new Set(groups.flatMap((group) => (typeof group === 'string' ? (roles.get(group) ?? []) : [])))
  if (scopes.size > 0) return { scopes: [...scopes] }
  throw new AppError(
    'FORBIDDEN',
    `The bearer token has no role: its claim "${claim.slice(0, 100)}" names none of ${[...roles.keys()].join(', ')}`,
  )
}

function callerOf(payload: JWTPayload, tenantClaim: string, rights: Rights): CheckedCaller {
  const tenant = Object.hasOwn(payload, tenantClaim) ? payload[tenantClaim] : undefined
  if (typeof tenant !== 'string' || !isTenant(tenant)) {
    throw new AppError('FORBIDDEN', `The bearer token lacks a tenant in its claim "${tenantClaim}"`)
  }
  return { tenant, user: payload.sub ?? '', rights, until: (payload.exp ?? 0) * 1000 }
}
