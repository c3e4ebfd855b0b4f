/** Cheap keep-alive connection for one request at a time, since it shares the machine with the host. */
import { connect, type Socket } from 'node:net'

export interface Answer {
  readonly status: number
  readonly body: string
}

export class Connection {
  readonly #socket: Socket
  readonly #head: string
  readonly #pieces: Buffer[] = []
  #held = 0
  /** of the current answer; NaN until its head is complete */
  #length = Number.NaN
  #headLength = 0
  #resolve: (answer: Answer) => void = () => undefined
  #reject: (error: Error) => void = () => undefined

  private constructor(socket: Socket, head: string) {
    this.#socket = socket
    this.#head = head
    socket.setNoDelay(true)
    socket.on('data', (piece: Buffer) => this.#take(piece))
    socket.on('close', () => this.#reject(new Error('the host closed the connection')))
  }

  static open(port: number, authorization: string): Promise<Connection> {
    const head = `HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: ${authorization}\r\n`
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket, head)))
      socket.once('error', reject)
    })
  }

  ask(method: string, path: string, body?: string): Promise<Answer> {
    const head = `${method} ${path} ${this.#head}`
    const sized = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body ?? '')}\r\n`
    const text = `${head}${body === undefined ? '' : sized}\r\n${body ?? ''}`
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#socket.write(text)
    })
  }

  async expect(status: number, method: string, path: string, body?: string): Promise<string> {
    const answer = await this.ask(method, path, body)
    if (answer.status === status) return answer.body
    throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.body.slice(0, 300)}`)
  }

  close(): void {
    this.#reject = () => undefined
    this.#socket.destroy()
  }

  #take(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#held += piece.length
    if (Number.isNaN(this.#length)) {
      const whole = Buffer.concat(this.#pieces)
      const end = whole.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /\r\ncontent-length: (\d+)/i.exec(whole.toString('latin1', 0, end))?.[1]
      this.#headLength = end + 4
      this.#length = this.#headLength + Number(length ?? 0)
    }
    if (this.#held < this.#length) return
    const whole = Buffer.concat(this.#pieces.splice(0))
    const answer = {
      status: Number(whole.toString('latin1', 9, 12)),
      body: whole.toString('utf8', this.#headLength, this.#length),
    }
    this.#held = 0
    this.#length = Number.NaN
    this.#resolve(answer)
  }
}
