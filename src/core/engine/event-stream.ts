/** Creates streams of events that isolate subscribers: RxJS would rethrow their errors, which ends a Node process. */
import { Observable, type Observer, type Operator, type Subscriber, type Subscription } from 'rxjs'

type Next<T> = ((value: T) => void) | null

export class GuardedObservable<T> extends Observable<T> {
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void, subscribe?: (subscriber: Subscriber<T>) => void) {
    super(subscribe)
    this.#report = report
  }

  /** Creates derived streams for RxJS; returning the same class keeps their subscribers guarded, too. */
  override lift<R>(operator?: Operator<T, R>): Observable<R> {
    const lifted = new GuardedObservable<R>(this.#report)
    lifted.source = this
    lifted.operator = operator as Operator<unknown, R>
    return lifted
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | Next<T>,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // Operators subscribe with their own Subscriber, which must be passed on unchanged.
    if (isSubscriber(observerOrNext)) return super.subscribe(observerOrNext)
    const observer =
      typeof observerOrNext === 'object' && observerOrNext !== null
        ? observerOrNext
        : { next: observerOrNext ?? undefined, error: error ?? undefined, complete: complete ?? undefined }
    return super.subscribe({
      // Same as `#guard`, but without a closure per event.
      next: (value) => {
        try {
          observer.next?.(value)
        } catch (problem) {
          this.#report(problem)
        }
      },
      error: (problem: unknown) =>
        this.#guard(() => (observer.error ? observer.error(problem) : this.#report(problem))),
      complete: () => this.#guard(() => observer.complete?.()),
    })
  }

  #guard(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#report(error)
    }
  }
}

export function guarded<T>(call: (value: T) => void, report: (error: unknown) => void): (value: T) => void {
  return (value) => {
    try {
      call(value)
    } catch (error) {
      report(error)
    }
  }
}

function isSubscriber(value: unknown): value is Subscriber<never> {
  return typeof value === 'object' && value !== null && 'isStopped' in value && 'unsubscribe' in value
}
