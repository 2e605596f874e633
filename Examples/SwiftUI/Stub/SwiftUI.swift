// SPDX-License-Identifier: Apache-2.0

// A stub of SwiftUI: declares the names that the samples use, so that they can be type-checked without SwiftUI. It
// draws nothing and is not part of any product.

// Apple's documentation describes these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

/// Stub of `View`.
@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View { public var body: Never { return fatalError("a view of the stub is never drawn") } }

/// A view without a body.
public protocol PrimitiveView: View where Body == Never {}

extension PrimitiveView { public var body: Never { return fatalError("a view of the stub is never drawn") } }

public struct EmptyView: PrimitiveView { public init() {} }

public struct TupleView<each Content: View>: PrimitiveView { init(_ content: repeat each Content) {} }

public struct ConditionalView<First: View, Second: View>: PrimitiveView {}

extension Optional: View where Wrapped: View {
    public var body: Never { return fatalError("a view of the stub is never drawn") }
}

@resultBuilder
@MainActor
public enum ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<repeat each Content>
    {
        TupleView(repeat each content)
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> ConditionalView<First, Second> {
        ConditionalView()
    }
    public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalView<First, Second> {
        ConditionalView()
    }
}

public struct Group<Content: View>: PrimitiveView { public init(@ViewBuilder content: () -> Content) {} }

public struct VStack<Content: View>: PrimitiveView { public init(@ViewBuilder content: () -> Content) {} }

public struct HStack<Content: View>: PrimitiveView { public init(@ViewBuilder content: () -> Content) {} }

public struct Spacer: PrimitiveView { public init() {} }

public struct Text: PrimitiveView { public init(_ content: some StringProtocol) {} }

public struct Image: PrimitiveView { public init(systemName: String) {} }

public struct Label: PrimitiveView { public init(_ title: some StringProtocol, systemImage: String) {} }

public struct Button<Content: View>: PrimitiveView {
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Content) {}
}

extension Button where Content == Text {
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) {}
}

public struct SecureField: PrimitiveView { public init(_ title: some StringProtocol, text: Binding<String>) {} }

public struct TextField: PrimitiveView { public init(_ title: some StringProtocol, text: Binding<String>) {} }

public struct Picker<Selection: Hashable, Content: View>: PrimitiveView {
    public init(
        _ title: some StringProtocol, selection: Binding<Selection>, @ViewBuilder content: () -> Content
    ) {}
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: PrimitiveView {
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: (Data.Element) -> Content) {}
}

public struct TextEditor: PrimitiveView { public init(text: Binding<String>) {} }

public struct Font: Sendable {
    public static let largeTitle = Font()
    public static let title = Font()
    public static let headline = Font()
    public static let footnote = Font()
}

public struct Modified: PrimitiveView {}

extension View {
    public func font(_ font: Font?) -> some View { Modified() }
    public func blur(radius: Double) -> some View { Modified() }
    public func disabled(_ isDisabled: Bool) -> some View { Modified() }
    public func padding() -> some View { Modified() }
    public func onAppear(perform action: (() -> Void)? = nil) -> some View { Modified() }
    public func tag(_ tag: some Hashable) -> some View { Modified() }
    public func task(_ action: @escaping @MainActor () async -> Void) -> some View { Modified() }
    public func confirmationDialog(
        _ title: some StringProtocol, isPresented: Binding<Bool>, @ViewBuilder actions: () -> some View
    ) -> some View { Modified() }
    public func sheet(isPresented: Binding<Bool>, @ViewBuilder content: @escaping () -> some View) -> some View {
        Modified()
    }
}

/// Stub of `State`.
@propertyWrapper
public struct State<Value> {
    public var wrappedValue: Value {
        get { value }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { Binding(get: { value }, set: { _ in }) }
    private let value: Value
    public init(wrappedValue: Value) { value = wrappedValue }
}

/// Stub of `Binding`.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value> {
    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }
    public var projectedValue: Binding<Value> { self }
    public subscript<Subject>(dynamicMember path: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        Binding<Subject>(get: { wrappedValue[keyPath: path] }, set: { wrappedValue[keyPath: path] = $0 })
    }
    private let read: () -> Value
    private let write: (Value) -> Void
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) { (read, write) = (get, set) }
}
