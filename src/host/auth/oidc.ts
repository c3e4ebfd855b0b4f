/**
 * Signs people in at an OpenID Connect provider, by an authorization code with PKCE. The state of a sign-in is in a
 * signed cookie of the browser, so that the answer of the provider opens a session only there.
 */
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError, isPlainObject, messageOf } from '#kernel'
import type { CheckedCaller } from './caller.ts'
import type { Tokens } from './tokens.ts'

export interface OidcClient {
  readonly issuer: string
  readonly clientId: string
  /** absent: a public client, which shows only PKCE */
  readonly clientSecret?: string
}

export interface OidcDependencies {
  readonly client: OidcClient
  readonly tokens: Pick<Tokens, 'checkIdentity'>
  /** Signs the cookies of sign-ins */
  readonly secret: Uint8Array
  /** Returns epoch ms */
  readonly now: () => number
  readonly fetch?: typeof globalThis.fetch
}

interface SignIn {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly redirect: string
  /** Epoch ms */
  readonly until: number
}

interface Provider {
  readonly authorization_endpoint: string
  readonly token_endpoint: string
}

export const SIGN_IN_COOKIE = 'reflexarc_sign_in'
export const SIGN_IN_S = 600
const ANSWER_MS = 10_000

export class Oidc {
  readonly #dependencies: OidcDependencies
  readonly #key: Buffer
  #provider: Promise<Provider> | undefined

  constructor(dependencies: OidcDependencies) {
    this.#dependencies = dependencies
    this.#key = createHmac('sha256', dependencies.secret).update('sign-in').digest()
  }

  /** Returns the address of the provider to which the browser goes, and the cookie for its return. */
  async begin(redirect: string): Promise<{ readonly address: string; readonly cookie: string }> {
    const { client, now } = this.#dependencies
    const { authorization_endpoint: endpoint } = await this.#discovered()
    const [state, nonce, verifier] = [randomText(), randomText(), randomText()]
    const address = new URL(endpoint)
    const asked = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirect,
      scope: 'openid',
      state,
      nonce,
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value)
    const signIn: SignIn = { state, nonce, verifier, redirect, until: now() + SIGN_IN_S * 1_000 }
    return { address: address.href, cookie: this.#signed(signIn) }
  }

  /** Returns the caller that the provider names. Throws `UNAUTHORIZED`, or `FORBIDDEN` for a caller without a role. */
  async finish(
    cookie: string,
    { code, state }: { readonly code: string; readonly state: string },
  ): Promise<CheckedCaller> {
    const signIn = this.#read(cookie)
    if (signIn === undefined || signIn.state !== state || signIn.until <= this.#dependencies.now()) {
      throw new AppError('UNAUTHORIZED', 'The login was not begun in this browser, or took too long; begin it again')
    }
    return this.#dependencies.tokens.checkIdentity(await this.#identity(code, signIn), {
      audience: this.#dependencies.client.clientId,
      nonce: signIn.nonce,
    })
  }

  async #identity(code: string, { redirect, verifier }: SignIn): Promise<string> {
    const { clientId, clientSecret } = this.#dependencies.client
    const { token_endpoint: endpoint } = await this.#discovered()
    const answer = await this.#ask(endpoint, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirect,
        client_id: clientId,
        code_verifier: verifier,
        ...(clientSecret !== undefined && { client_secret: clientSecret }),
      }),
    })
    const token = isPlainObject(answer) ? answer['id_token'] : undefined
    if (typeof token === 'string') return token
    throw new AppError('UNAUTHORIZED', 'The provider returned no id_token for the code; begin the login again')
  }

  #discovered(): Promise<Provider> {
    const { issuer } = this.#dependencies.client
    this.#provider ??= this.#ask(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`).then((answer) => {
      if (isProvider(answer)) return answer
      throw new AppError('REMOTE_FAILED', `The provider ${issuer} does not describe its endpoints`)
    })
    // a failure is not remembered
    this.#provider.catch(() => (this.#provider = undefined))
    return this.#provider
  }

  async #ask(url: string, init: RequestInit = {}): Promise<unknown> {
    const { fetch = globalThis.fetch } = this.#dependencies
    let answer: Response
    try {
      answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) })
    } catch (error) {
      throw new AppError('REMOTE_FAILED', `The provider cannot be reached: ${messageOf(error)}`, { cause: error })
    }
    if (answer.ok) return answer.json()
    throw new AppError('UNAUTHORIZED', `The provider rejected the login with status ${answer.status}; begin it again`)
  }

  #signed(signIn: SignIn): string {
    const text = Buffer.from(JSON.stringify(signIn)).toString('base64url')
    return `${text}.${this.#signatureOf(text).toString('base64url')}`
  }

  #read(cookie: string): SignIn | undefined {
    const [text = '', signature = ''] = cookie.split('.')
    const [given, expected] = [Buffer.from(signature, 'base64url'), this.#signatureOf(text)]
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as SignIn
  }

  #signatureOf(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest()
  }
}

function randomText(): string {
  return randomBytes(32).toString('base64url')
}

function isProvider(value: unknown): value is Provider {
  if (!isPlainObject(value)) return false
  return [value['authorization_endpoint'], value['token_endpoint']].every((one) => typeof one === 'string')
}
