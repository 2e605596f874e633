// SPDX-License-Identifier: Apache-2.0

/// What --help shows.
enum Help {
    static let overview = """
        usage: latchkey COMMAND [options]

        Keeps secrets that only a finger or a passcode releases.

          set NAME        store a secret from standard input or a hidden prompt
          get NAME        write a secret to standard output
          list            show what is stored, without any secret
          delete NAME     delete an item
          key VERB        make key pairs and sign, verify, encrypt and decrypt with them
          passcode VERB   set, change, remove or check the passcode
          lock            lock the keychain: keys leave memory, nobody is asked
          unlock          unlock it by finger or passcode
          status          show the daemon, the store and the sensor
          export FILE     write what may leave this device, under a recovery code
          import FILE     add the items of such a file
          log             show what was written, used and refused, and by whom
          check           look whether everything in the store is what was put there
          reset           discard protected items, when their keys are lost
          apps            show which apps may use Face ID, and take it back
          sim VERB        play the machine of a simulated daemon

          --json          write for programs      --help      show help, also of a command
          --version       show the version

        Exit codes: 0 done, 1 failed, 64 wrong usage, 66 not found, 69 no daemon, 73 exists, 77 not authenticated.
        Environment: LATCHKEY_HOME (folder of the store), LATCHKEY_APP_ID (access group), NO_COLOR,
          LATCHKEY_PROMPT=plain (prompts in sentences, for screen readers).

        """

    static func text(_ command: Command) -> String {
        switch command {
        case .set:
            """
            usage: latchkey set NAME [--service SERVICE] [--protect RULE] [--label TEXT] [--replace] [--json]

            Stores a secret. A pipe or a file on standard input is stored byte for byte; on a terminal one line is
            asked for and not shown. RULE says what releases it: none (default), presence (finger or passcode),
            biometry (any enrolled finger), current-set (only the fingers enrolled now), passcode.

            """
        case .get:
            """
            usage: latchkey get NAME [--service SERVICE] [--json]

            Writes the secret to standard output, byte for byte. A protected one asks on the terminal first.

            """
        case .list:
            """
            usage: latchkey list [--service SERVICE] [--json]

            Shows names, services and protection of the items of this access group. Asks for nothing.

            """
        case .delete:
            """
            usage: latchkey delete NAME [--service SERVICE] [--json]

            Deletes the item. There is no undo.

            """
        case .key:
            """
            usage: latchkey key VERB [options] [--json]

              create NAME            make a key pair; its public half can be shown without a proof
                --type TYPE          p256 (default), p384, p521, rsa2048, rsa3072, rsa4096
                --enclave            of type p256, its private half never leaves the enclave
                --protect RULE       what releases the private half: as latchkey set has it
                --label TEXT
              list                   show the keys of this access group; asks for nothing
              public NAME            write the public half
                --format FORMAT      pem (default), der, ssh, jwk, x963 (a point, for curves only)
              sign NAME [FILE]       sign a file or standard input: ECDSA in DER, or RSA with PKCS#1 v1.5
                --hash HASH          sha256 (default), sha384, sha512
                --pss                RSA with PSS, its salt as long as the digest
              verify NAME [FILE]     look whether a signature is right: 0 if so, 1 if not
                --signature FILE     the signature; --hash and --pss as they were for sign
              encrypt NAME [FILE]    for the owner of the private half: ECIES, or RSA-OAEP, with SHA-256 and AES-GCM
              decrypt NAME [FILE]    what encrypt wrote
              delete NAME            delete both halves. There is no undo.

            Signatures and ciphertexts are bytes. --hex and --base64 write and read them as text; --output FILE writes
            the result into a file (--replace: one that exists). A protected key asks on the terminal first.
            Keys are stored as apps store them: NAME is the application tag. encrypt takes at most 64 MiB.

            """
        case .passcode:
            """
            usage: latchkey passcode set | change | remove | check [--json]

            The passcode of this store. A new one has at least 4 characters and is asked for here, or read from a pipe
            (one line). The one so far is asked for by the daemon, in a prompt of its own, never by this command.
            Removing it deletes every item that needs it. Checking it ends a lockout of the sensor.

            """
        case .status:
            """
            usage: latchkey status [--json]

            Shows tier, daemon, store, sensor, passcode and enclave. Fails when the store cannot be used.

            """
        case .export:
            """
            usage: latchkey export FILE [--replace] [--json]

            Writes the items of every app that are not bound to this device into FILE, which the daemon encrypts. Its
            prompt asks for the passcode and shows the recovery code once; this command prints no code and never has
            one. Without the code nothing in the file can be read. Items that stay are listed with the reason. Without a
            passcode only the items of this command's own group are written.

            """
        case .import:
            """
            usage: latchkey import FILE [--json]

            Adds the items of a backup. The daemon's prompt asks for the passcode and the recovery code. The whole file is
            verified first: one that was cut or changed adds nothing. Items that are there already stay as they are, so
            an import that was interrupted goes on when it is started again.

            """
        case .lock:
            """
            usage: latchkey lock [--json]

            Locks the keychain: prompts end, what apps had proven is forgotten, and keys leave memory. Items of the
            classes AfterFirstUnlock and Always stay readable. A passcode has to be set.

            """
        case .unlock:
            """
            usage: latchkey unlock [--json]

            Unlocks the keychain by finger or passcode, asked for on the terminal.

            """
        case .log:
            """
            usage: latchkey log [--limit NUMBER | --verify] [--json]
                   latchkey log --daemon [--limit NUMBER] [--json]

            Shows the audit trail, oldest first: every write, every use of a protected item, every refusal. --limit
            shows the newest ones. --verify follows the chain from the first entry to the last and says whether it is
            whole, or at which entry it breaks. --json writes one object a line.

            --daemon shows what the daemon wrote down about itself: starts, ends, and failures that no program was told
            of. It reads daemon.log in the store's folder and needs no daemon.

            """
        case .check:
            """
            usage: latchkey check [--restore | --accept] [--json]

            Looks at every row, index and record of the store, at the audit trail and at the database itself, says what
            is wrong and what to do, and changes nothing. No secret leaves the daemon. Fails when something is wrong.
            --restore brings back items that were damaged and put aside, if they are whole again: after the right key
            or anchor file was put back. Nothing is deleted or replaced; what stays aside is named with the reason.
            --accept uses a store as it is that looks restored from a backup or changed by another program: it has you
            type the word accept, and the daemon asks for the passcode, if one is set.

            """
        case .reset:
            """
            usage: latchkey reset --protected [--json]

            Deletes every item that asks for a finger, a face or the passcode, and the passcode itself: the way out when
            the file anchor is lost. Other items stay. Has you type the word discard; the daemon asks for the passcode,
            if it can still be checked.

            """
        case .apps:
            """
            usage: latchkey apps [--revoke APP | --forget APP] [--json]

            Shows the apps that have asked to use Face ID and what they were told. --revoke refuses an app from now
            on; --forget lets it ask again.

            """
        case .sim:
            """
            usage: latchkey sim VERB [--json]

              start                start a simulated daemon in $LATCHKEY_HOME    stop    end it
              sensor KIND          build in none, touch, face or optic
              enrol                enrol one more finger                          unenrol forget all
              replace              replace a finger by another
              touch [--other]      touch the sensor with the enrolled finger, or with another (look: the same)
              enter                type a passcode (from standard input) into the next prompt
              fallback             choose the other way         cancel            cancel the prompt
              acknowledge          confirm that the recovery code is written down    code  print it
              enter-code           type a recovery code (from standard input) into the next prompt
              accept-any on | off  take whatever is typed for the passcode
              passcode VERB        set, change or remove the passcode
              lock                 lock the device       unlock [--other]  by the finger, or by the passcode
              pair DEVICE          pair a watch, mac or vision, and bring it near    unpair DEVICE  forget it
              near DEVICE          bring it near         far DEVICE        take it away
              confirm              confirm on the paired device
              face allow | deny    answer an app that asks to use Face ID
              background           put apps behind       foreground        bring them back
              advance SECONDS      move the clock on            restart           start the machine again
              fail FAULT           once: disk (full), entitlement (missing), sensor (gives up)
              transcript           show what happened
              reset                drop actions that no prompt has taken

            """
        }
    }
}
